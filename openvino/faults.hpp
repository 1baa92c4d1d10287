// SPDX-License-Identifier: MIT
//
// Where the runtime is known to go wrong with a Gather: its transformations with garner's as with its own,
// its kernels with those that would be left to it.
#pragma once

#include <openvino/op/gather.hpp>

namespace garner
{

// Whether the runtime's transformations would put data in place of the result, which they look at neither the
// batches nor indices into an extent of 1 for.
bool is_mistaken_for_data(const ov::op::util::GatherBase &node);
inline bool is_mistaken_for_data(const ov::Node &)
{
    return false;
}

// Whether the runtime's own kernel may end the process, or read memory of others.
bool is_unsafe_to_leave(const ov::op::util::GatherBase &node);
inline bool is_unsafe_to_leave(const ov::Node &)
{
    return false;
}

// Whether the runtime would run a layer by its loop for short vectors of integers, which takes whatever lies
// where an index says, with an index that may be outside.
bool is_unchecked(const ov::op::util::GatherBase &node);
inline bool is_unchecked(const ov::Node &)
{
    return false;
}

} // namespace garner
