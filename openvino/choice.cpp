// SPDX-License-Identifier: MIT
//
// Calling a layer by reference costs the plug-in two or three microseconds more than calling its own, which
// a small Gather cannot earn back; and one slice of a tensor the plug-in gives without a copy, where it lies.
// But what the runtime's own kernel gets wrong stays here at any size.
#include "choice.hpp"

#include <algorithm>

#include <openvino/op/constant.hpp>
#include <openvino/op/parameter.hpp>

namespace garner
{
namespace
{

using ov::op::v0::Constant;
using ov::op::v0::Parameter;

// Bytes of the result, or no less than can be told where extents are open; max where nothing can be told.
int64_t foreseen_bytes(const ov::Output<const ov::Node> &result, int64_t max)
{
    const auto &shape = result.get_partial_shape();
    if (shape.rank().is_dynamic()) return max;
    auto bits = static_cast<int64_t>(result.get_element_type().bitwidth());
    for (const auto &extent : shape) {
        const auto most = extent.get_max_length(); // -1 if there is none
        if (__builtin_mul_overflow(bits, most < 0 ? open_extent : most, &bits)) return max;
    }
    return bits / 8;
}

// Types that the plug-in computes in, and types that it turns into these around every layer that is not ours.
bool is_kept(const ov::element::Type &type)
{
    using namespace ov::element;
    return type == f32 || type == f16 || type == bf16 || type == i32 || type == i8 || type == u8 ||
           type == boolean;
}
bool is_converted(const ov::element::Type &type)
{
    using namespace ov::element;
    return type == f64 || type == i64 || type == u64 || type == u32 || type == i16 || type == u16;
}

// Whether data arrive at the runtime's kernel as they would arrive at ours.
bool arrives_alike(const ov::Output<ov::Node> &data)
{
    const auto &giver = *data.get_node();
    if (ov::is_type<Parameter>(&giver) || is_ours(giver)) return false; // we take these bit by bit
    const auto &type = data.get_element_type();
    return is_kept(type) || (is_converted(type) && !ov::is_type<Constant>(&giver));
}

// Whether the runtime's kernel reads an index of any value as this version has it.
bool reads_any_index(const std::string &spec)
{
    return spec == "openvino-8" || spec.compare(0, 5, "onnx-") == 0;
}

enum class Indices { variable, inside, outside };

Indices look_at(const Constant &indices, const ov::Dimension &extent, bool negative_too)
{
    if (extent.is_dynamic()) return Indices::variable;
    const auto end = extent.get_length(), begin = negative_too ? -end : 0;
    const auto values = indices.cast_vector<int64_t>();
    const auto fits = [=](int64_t index) { return index >= begin && index < end; };
    return std::all_of(values.begin(), values.end(), fits) ? Indices::inside : Indices::outside;
}

bool indices_are_read_alike(const ov::op::util::GatherBase &node, const std::string &spec)
{
    const auto *constant = ov::as_type<const Constant>(node.get_input_node_ptr(1));
    const auto axis = node.get_axis();
    const auto &data = node.get_input_partial_shape(0);
    auto kind = Indices::variable;
    if (constant != nullptr && data.rank().is_static() && axis >= 0 && axis < data.rank().get_length())
        kind = look_at(*constant, data[axis], reads_any_index(spec));
    return kind == Indices::variable ? reads_any_index(spec) : kind == Indices::inside;
}

bool is_constant(const ov::Output<ov::Node> &value)
{
    return ov::is_type<Constant>(value.get_node());
}

// Whether the result is a contiguous part of data that is known when the model is compiled: one constant
// index, and nothing but extents of 1 before its axis. The plug-in then copies nothing.
bool is_one_slice(const ov::op::util::GatherBase &node)
{
    const auto *indices = ov::as_type<const Constant>(node.get_input_node_ptr(1));
    const auto &data = node.get_input_partial_shape(0);
    const auto axis = node.get_axis();
    if (indices == nullptr || ov::shape_size(indices->get_shape()) != 1 || data.rank().is_dynamic() ||
        axis < 0 || axis >= data.rank().get_length() || data[axis].is_dynamic())
        return false;
    return std::all_of(data.begin(), data.begin() + axis, [](const auto &extent) { return extent == 1; });
}

} // namespace

bool is_ours(const ov::Node &node)
{
    return std::string("garner") == node.get_type_info().version_id;
}

bool is_shape_arithmetic(const ov::OutputVector &inputs)
{
    if (inputs.size() != 3) return false;
    const auto &data = inputs.at(0);
    const auto &rank = data.get_partial_shape().rank();
    return (data.get_element_type() == ov::element::i64 || data.get_element_type() == ov::element::i32) &&
           rank.is_static() && rank.get_length() == 1 && !ov::is_type<Parameter>(data.get_node()) &&
           !is_constant(data) && is_constant(inputs.at(1));
}

bool is_better_left(const ov::op::util::GatherBase &node, const std::string &spec, int64_t min_bytes)
{
    const auto data = node.input_value(0), indices = node.input_value(1), axis = node.input_value(2);
    if (min_bytes == 0 || !is_constant(axis)) return false;
    return (foreseen_bytes(node.output(0), min_bytes) < min_bytes || is_one_slice(node)) &&
           arrives_alike(data) && !(is_constant(data) && is_constant(indices)) &&
           indices_are_read_alike(node, spec);
}

} // namespace garner
