// SPDX-License-Identifier: MIT
#include "faults.hpp"

#include <algorithm>

#include <openvino/op/constant.hpp>

namespace garner
{
namespace
{

using ov::op::util::GatherBase;
using ov::op::v0::Constant;

const Constant *constant_indices(const GatherBase &node)
{
    return ov::as_type<const Constant>(node.get_input_node_ptr(1));
}

// The extent that is gathered from, if the model tells.
ov::Dimension extent_of(const GatherBase &node)
{
    const auto &data = node.get_input_partial_shape(0);
    const auto *axis = ov::as_type<const Constant>(node.get_input_node_ptr(2));
    if (data.rank().is_dynamic() || axis == nullptr || ov::shape_size(axis->get_shape()) != 1) return {};
    const auto rank = data.rank().get_length();
    auto number = axis->cast_vector<int64_t>().front();
    if (number < 0) number += rank;
    return number >= 0 && number < rank ? data[number] : ov::Dimension();
}

bool are_inside(const Constant &indices, int64_t extent)
{
    const auto values = indices.cast_vector<int64_t>();
    return std::all_of(values.begin(), values.end(),
                       [=](int64_t index) { return index >= -extent && index < extent; });
}

// Whether the indices are 0, 1, 2 and so on, one for each element of the axis, whatever their shape.
bool count_up(const Constant &indices, int64_t extent)
{
    if (ov::shape_size(indices.get_shape()) != static_cast<size_t>(extent)) return false;
    int64_t next = 0;
    const auto values = indices.cast_vector<int64_t>();
    return std::all_of(values.begin(), values.end(), [&](int64_t index) { return index == next++; });
}

bool is_known_to_be_empty(const ov::PartialShape &shape)
{
    return shape.rank().is_static() &&
           std::any_of(shape.begin(), shape.end(), [](const auto &extent) { return extent == 0; });
}

// Whether a tensor may be a number or a vector so short that the runtime has a loop of its own for it.
bool may_be_short(const ov::PartialShape &shape)
{
    constexpr int64_t longest = 64;
    if (shape.rank().is_dynamic() || shape.rank().get_length() == 0) return true;
    return shape.rank().get_length() == 1 && shape[0].get_min_length() <= longest;
}

// Whether there are fewer axes than batch_dims counts from the end, which the runtime overlooks.
bool has_no_such_batch(const GatherBase &node)
{
    const auto &data = node.get_input_shape(0), &indices = node.get_input_shape(1);
    return node.get_batch_dims() < -static_cast<int64_t>(std::min(data.size(), indices.size()));
}

} // namespace

bool is_mistaken_for_data(const GatherBase &node)
{
    if (node.get_input_size() != 3 || node.get_output_size() == 0) return false; // it is being made
    const auto &data = node.get_input_partial_shape(0), &out = node.get_output_partial_shape(0);
    if (data.is_dynamic() || node.get_input_partial_shape(1).is_dynamic() || out.is_dynamic()) return false;
    if (has_no_such_batch(node)) return true;
    const auto extent = extent_of(node);
    if (extent.is_dynamic()) return false;
    const auto *indices = constant_indices(node);
    if (extent == 1) return indices != nullptr ? !are_inside(*indices, 1) : data == out;
    return indices != nullptr && data != out && count_up(*indices, extent.get_length());
}

// With batches it reads other elements than it should, or beyond the end, where there is one batch; it
// divides by the number of indices and by that of elements; and shapes are computed with constants unchecked.
bool is_unsafe_to_leave(const GatherBase &node)
{
    const auto &data = node.get_input_partial_shape(0), &indices = node.get_input_partial_shape(1);
    if (node.get_batch_dims() != 0 || is_known_to_be_empty(data) || is_known_to_be_empty(indices))
        return true;
    const auto *constant = constant_indices(node);
    const auto extent = extent_of(node);
    return is_unchecked(node) && constant != nullptr && extent.is_static();
}

bool is_unchecked(const GatherBase &node)
{
    const auto &data = node.get_input_partial_shape(0);
    if (data.rank() != 1 || node.get_input_element_type(0).is_real() || !may_be_short(data) ||
        !may_be_short(node.get_input_partial_shape(1)))
        return false;
    const auto *constant = constant_indices(node);
    const auto extent = extent_of(node);
    return constant == nullptr || extent.is_dynamic() || !are_inside(*constant, extent.get_length());
}

} // namespace garner
