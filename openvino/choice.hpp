// SPDX-License-Identifier: MIT
//
// Which gathers of a model stay with the runtime, decided when the model is read.
// draw/gathers/claims_openvino.c tells users the same of a file.
#pragma once

#include <string>

#include <openvino/op/gather_elements.hpp>
#include <openvino/op/util/gather_base.hpp>
#include <openvino/op/util/gather_nd_base.hpp>

namespace garner
{

// What an extent that a model leaves open is taken for: little, since a model with open extents has had
// garner's code driven out of the caches by the time that it comes to a layer, and a short one cannot gain.
constexpr int64_t open_extent = 16;

// A few elements of a vector that the model computed, which is how models compute with shapes. The runtime's
// transformations look for it, and fold it.
bool is_shape_arithmetic(const ov::OutputVector &inputs);

// Whose a layer is. The plug-in converts some data in front of its own layers, and not in front of ours
// unless another layer computes with the result; who reads that is known when the model is compiled.
enum class Choice { ours, runtimes, runtimes_if_computed_with };

// Of a layer, its shape inferred. It is better left to the runtime if its points count for fewer bytes than
// given, or a Gather has one index, and the runtime's own kernel gives the same. With 0 bytes all are ours.
// `spec` is the version, as in layer.h.
Choice choose(const ov::op::util::GatherBase &node, const std::string &spec, int64_t min_bytes);
Choice choose(const ov::op::v6::GatherElements &node, const std::string &spec, int64_t min_bytes);
Choice choose(const ov::op::util::GatherNDBase &node, const std::string &spec, int64_t min_bytes);

} // namespace garner
