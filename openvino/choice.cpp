// SPDX-License-Identifier: MIT
//
// The first layer called by reference in an inference finds the plug-in's code for that, and ours, driven out
// of the caches, which costs it 20 to 35 microseconds, and each later one some more than the plug-in's own.
// Only many points earn that back; and one index is a slice, which the plug-in copies as fast or not at all.
// But what the runtime's own kernel gets wrong stays here at any size, or is given to another of its kernels.
#include "choice.hpp"

#include "operators.hpp"

#include <algorithm>
#include <vector>

#include <openvino/op/constant.hpp>
#include <openvino/op/parameter.hpp>

namespace garner
{
namespace
{

using ov::op::v0::Constant;
using ov::op::v0::Parameter;

int64_t times(int64_t product, int64_t factor)
{
    return __builtin_mul_overflow(product, factor, &product) ? INT64_MAX : product;
}

int64_t foreseen(const ov::Dimension &extent)
{
    const auto most = extent.get_max_length(); // -1 if there is none
    return most < 0 ? open_extent : most;
}

// What a point counts for, by the elements and bytes that lie together there. Single elements the plug-in
// gathers with vectors, and of long rows the copy takes nearly all the time: little to gain with either.
// Where the number of points is a guess, it is a low one, and rows of medium length gain most by many.
struct Weights {
    int64_t single, of_short, of_medium;
};
constexpr Weights of_rows = {1, 4, 8}, of_tuples = {1, 2, 8};

int64_t weight_of(int64_t elements, int64_t bytes, const Weights &weights, bool is_guess)
{
    constexpr int64_t is_short = 64, of_medium_guess = 64, is_long = 512, of_long = 16;
    if (elements <= 1) return weights.single;
    if (bytes >= is_long) return of_long;
    return bytes <= is_short ? weights.of_short : is_guess ? of_medium_guess : weights.of_medium;
}

// A layer that may refuse an index and has open extents, the plug-in infers anew in every call: three times
// the cost. GatherElements earns that back with as many points, since the plug-in's own is that much slower.
int64_t fewer_if_inferred(int64_t weight, const ov::Node &node, bool may_refuse)
{
    constexpr int64_t costs = 4;
    const auto is_open =
        node.get_input_partial_shape(0).is_dynamic() || node.get_input_partial_shape(1).is_dynamic();
    return may_refuse && is_open ? weight / costs : weight;
}

// What all points count for, the last axes of the result being one row; as much as can be where nothing can
// be told.
int64_t foreseen_weight(const ov::PartialShape &result, const ov::element::Type &type, int64_t row_axes,
                        const Weights &weights = of_rows)
{
    if (result.rank().is_dynamic() || row_axes < 0 || row_axes > result.rank().get_length()) return INT64_MAX;
    int64_t points = 1, row = 1;
    bool is_guess = false;
    for (auto extent = result.begin(); extent != result.end(); ++extent) {
        auto &count = result.end() - extent > row_axes ? points : row;
        count = times(count, foreseen(*extent));
        is_guess = is_guess || extent->get_max_length() < 0;
    }
    const auto bytes = times(row, static_cast<int64_t>(type.bitwidth())) / 8;
    return times(points, weight_of(row, bytes, weights, is_guess));
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

// Of those that it computes in, the ones that an input of the model has bit by bit in every layer.
bool is_untouched(const ov::element::Type &type)
{
    using namespace ov::element;
#if defined(__aarch64__) || defined(__arm__)
    if (type == f32) return false; // f16, unless the user says otherwise
#endif
    return type != f16 && type != bf16 && is_kept(type);
}

// Whose a layer is by its data alone: whether they arrive at the runtime's kernel as they would at ours.
Choice choose_by_data(const ov::Output<ov::Node> &data)
{
    const auto *giver = data.get_node();
    while (is_ours(*giver))
        giver = giver->get_input_node_ptr(0);
    const auto &type = data.get_element_type();
    if (!is_kept(type) && !is_converted(type)) return Choice::ours;
    const auto is_alike = ov::is_type<Parameter>(giver) ? is_untouched(type) // we take these bit by bit
                                                        : is_kept(type) || !ov::is_type<Constant>(giver);
    return is_alike ? Choice::runtimes : Choice::runtimes_if_computed_with;
}

bool is_onnx(const std::string &spec)
{
    return spec.compare(0, 5, "onnx-") == 0;
}

// Whether the runtime's kernel reads an index of any value that is allowed as this version has it.
bool reads_any_index(const ov::Node &node, const std::string &spec)
{
    return ov::as_type<const ov::op::util::GatherBase>(&node) == nullptr || spec == "openvino-8" ||
           is_onnx(spec);
}

// The extents that indices lie in: one, or one for each element of a tuple.
using Extents = std::vector<ov::Dimension>;

// Whether constant indices are inside, as far as extents are known.
bool are_inside(const Constant &indices, const Extents &extents, bool negative_too)
{
    const auto values = indices.cast_vector<int64_t>();
    for (size_t i = 0; i < values.size(); i++) {
        const auto &extent = extents[i % extents.size()];
        if (extent.is_dynamic()) continue;
        const auto end = extent.get_length();
        if (values[i] >= end || values[i] < (negative_too ? -end : 0)) return false;
    }
    return true;
}

bool indices_are_read_alike(const ov::Node &node, const std::string &spec, const Extents &extents)
{
    const auto *constant = ov::as_type<const Constant>(node.get_input_node_ptr(1));
    const auto any = reads_any_index(node, spec);
    const auto is_known = [](const auto &extent) { return extent.is_static(); };
    if (constant == nullptr || extents.empty()) return any;
    return (any || std::all_of(extents.begin(), extents.end(), is_known)) &&
           are_inside(*constant, extents, any);
}

bool is_constant(const ov::Output<ov::Node> &value)
{
    return ov::is_type<Constant>(value.get_node());
}

bool is_one(const ov::PartialShape &shape)
{
    return shape.is_static() && ov::shape_size(shape.to_shape()) == 1;
}

// Whether nothing is gathered, or from nothing: on x86-64 the runtime's own kernels may die of that.
bool is_empty(const ov::Node &node)
{
    const auto has_none = [](const ov::PartialShape &shape) {
        return shape.rank().is_static() && std::any_of(shape.begin(), shape.end(), [](const auto &extent) {
                   return extent.get_max_length() == 0;
               });
    };
    return has_none(node.get_input_partial_shape(0)) || has_none(node.get_input_partial_shape(1)) ||
           has_none(node.get_output_partial_shape(0));
}

// Whose a small layer is: ours, unless the runtime's own kernel gives the same for all that is allowed.
Choice choose_small(const ov::Node &node, const std::string &spec, const Extents &extents)
{
    const auto data = node.input_value(0), indices = node.input_value(1);
    if (is_empty(node) || (is_constant(data) && is_constant(indices)) ||
        !indices_are_read_alike(node, spec, extents))
        return Choice::ours;
    return choose_by_data(data);
}

} // namespace

bool is_shape_arithmetic(const ov::OutputVector &inputs)
{
    if (inputs.size() != 3) return false;
    const auto &data = inputs.at(0);
    const auto &rank = data.get_partial_shape().rank();
    return (data.get_element_type() == ov::element::i64 || data.get_element_type() == ov::element::i32) &&
           rank.is_static() && rank.get_length() == 1 && !ov::is_type<Parameter>(data.get_node()) &&
           !is_constant(data) && is_constant(inputs.at(1));
}

Choice choose(const ov::op::util::GatherBase &node, const std::string &spec, int64_t min_bytes)
{
    if (min_bytes == 0 || !is_constant(node.input_value(2))) return Choice::ours;
    const auto &data = node.get_input_partial_shape(0);
    const auto axis = node.get_axis();
    const auto is_known = data.rank().is_static() && axis >= 0 && axis < data.rank().get_length();
    const auto row_axes = is_known ? data.rank().get_length() - axis - 1 : -1;
    const auto weight = fewer_if_inferred(
        foreseen_weight(node.get_output_partial_shape(0), node.get_output_element_type(0), row_axes), node,
        spec != "openvino-8");
    if (weight >= min_bytes && !is_one(node.get_input_partial_shape(1))) return Choice::ours;
    return choose_small(node, spec, is_known ? Extents{data[axis]} : Extents{});
}

Choice choose(const ov::op::v6::GatherElements &node, const std::string &spec, int64_t min_bytes)
{
    const auto &data = node.get_input_partial_shape(0);
    auto indices = node.get_input_partial_shape(1);
    if (min_bytes == 0 || data.rank().is_dynamic() || indices.rank() != data.rank()) return Choice::ours;
    if (is_onnx(spec) && !infers_like_onnx(node)) return Choice::ours;
    const auto rank = data.rank().get_length(),
               axis = node.get_axis() < 0 ? node.get_axis() + rank : node.get_axis();
    if (axis < 0 || axis >= rank) return Choice::ours;
    // Along its axis a model picks about as many as there are.
    if (indices[axis].get_max_length() < 0) indices[axis] = data[axis];
    if (foreseen_weight(indices, node.get_output_element_type(0), 0) >= min_bytes) return Choice::ours;
    return choose_small(node, spec, {data[axis]});
}

Choice choose(const ov::op::util::GatherNDBase &node, const std::string &spec, int64_t min_bytes)
{
    const auto &data = node.get_input_partial_shape(0), &indices = node.get_input_partial_shape(1);
    if (min_bytes == 0 || data.rank().is_dynamic() || indices.rank().is_dynamic() ||
        indices.rank().get_length() == 0 || indices.rbegin()->is_dynamic())
        return Choice::ours;
    if (is_onnx(spec) && !infers_like_onnx(node)) return Choice::ours;
    const auto first = static_cast<int64_t>(node.get_batch_dims()),
               end = first + indices.rbegin()->get_length(), rank = data.rank().get_length();
    if (end > rank) return Choice::ours;
    const Extents extents(data.begin() + first, data.begin() + end);
    const auto weight =
        fewer_if_inferred(foreseen_weight(node.get_output_partial_shape(0), node.get_output_element_type(0),
                                          rank - end, of_tuples),
                          node, true);
    return weight < min_bytes ? choose_small(node, spec, extents) : Choice::ours;
}

} // namespace garner
