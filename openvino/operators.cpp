// SPDX-License-Identifier: MIT
//
// From OpenVINO's tensors and graph to layer.c: element types by their names, tensors as views, tasks on the
// threads that the plug-in runs the layer with, refusals as exceptions.
#include "operators.hpp"

#include <array>
#include <cstring>
#include <type_traits>

#include <openvino/core/except.hpp>
#include <openvino/core/graph_util.hpp>
#include <openvino/core/rt_info.hpp>
#include <openvino/op/constant.hpp>
#include <openvino/op/convert.hpp>
#include <openvino/op/parameter.hpp>
#include <openvino/op/result.hpp>
#include <openvino/op/squeeze.hpp>
#include <openvino/op/unsqueeze.hpp>
#include <openvino/op/util/shape_of_base.hpp>
#include <openvino/runtime/tensor.hpp>

#if __has_include(<tbb/parallel_for.h>)
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#define GARNER_HAVE_TBB
#endif

namespace garner
{
namespace
{

// ---- Threads ------------------------------------------------------------------------------------

// The plug-in calls evaluate inside an arena of as many threads as the stream may use; TBB keeps to it.
// Shares are the same from call to call, so that what a thread wrote may still lie in its own cache.
#ifdef GARNER_HAVE_TBB
int in_arena(void *, garner_task *task, void *argument, size_t count)
{
    try {
        const auto run = [=](size_t i) { task(argument, i); };
        tbb::parallel_for(size_t{0}, count, run, tbb::static_partitioner{});
        return 0;
    } catch (const std::exception &) {
        return 1;
    }
}
#endif

// NULL where there is one thread, which then does everything without being cut into tasks.
const garner_exec *threads_here()
{
#ifdef GARNER_HAVE_TBB
    static const garner_exec arena = {sizeof(garner_exec), in_arena, nullptr, nullptr, nullptr};
    if (tbb::this_task_arena::max_concurrency() > 1) return &arena;
#endif
    return nullptr;
}

// ---- Tensors ------------------------------------------------------------------------------------

// OpenVINO's type names are among those that garner knows, so a type added later needs nothing here.
garner_dtype dtype_of(const ov::element::Type &type)
{
    static const auto table = [] {
        std::array<garner_dtype, 64> made{};
        for (size_t i = 1; i < made.size(); i++) {
            try {
                const auto name = ov::element::Type(static_cast<ov::element::Type_t>(i)).get_type_name();
                made[i] = garner_dtype_from_name(name.c_str());
            } catch (const std::exception &) {
                break; // beyond the last
            }
        }
        return made;
    }();
    const auto i = static_cast<size_t>(static_cast<ov::element::Type_t>(type));
    return i < table.size() ? table[i] : 0;
}

static_assert(sizeof(size_t) == sizeof(int64_t), "shapes are read where they lie");

garner_tensor view_of(const ov::Tensor &tensor)
{
    garner_tensor view{};
    const auto &shape = tensor.get_shape();
    view.shape = reinterpret_cast<const int64_t *>(shape.data());
    view.rank = static_cast<int32_t>(shape.size());
    view.dtype = dtype_of(tensor.get_element_type());
    return view;
}

// What objects of one class begin with, and of two classes do not: the pointer to their virtual functions.
const void *class_of(const ov::Tensor &tensor)
{
    struct Open : ov::Tensor {
        using ov::Tensor::_impl;
    };
    const void *object = (tensor.*&Open::_impl).get(), *found = nullptr;
    if (object != nullptr) std::memcpy(&found, object, sizeof found);
    return found;
}

// Whether a tensor is of the class that the plug-in makes, which cannot have strides. To be asked about them
// it would first compute them, behind a lock that ends in a system call: a third of a small gather's time.
bool is_plain(const ov::Tensor &tensor)
{
    static const auto *const plain = [] {
        static float elements[4];
        const ov::Shape shape{2, 1};
        const ov::Tensor view(ov::element::f32, shape, elements), whole(ov::element::f32, {2, 2}, elements);
        const ov::Tensor strided(ov::element::f32, shape, elements, {8, 4}), part(whole, {0, 0}, {2, 1});
        const auto *found = class_of(view);
        return found == class_of(strided) || found == class_of(part) ? nullptr : found;
    }();
    return plain != nullptr && class_of(tensor) == plain;
}

// The tensor itself, or a dense copy of one that has strides.
const ov::Tensor &dense(const ov::Tensor &tensor, ov::Tensor &copy)
{
    if (is_plain(tensor) || tensor.is_continuous()) return tensor;
    copy = ov::Tensor(tensor.get_element_type(), tensor.get_shape());
    tensor.copy_to(copy);
    return copy;
}

ov::Shape shape_of(const garner_shape &shape, int64_t merged)
{
    ov::Shape made(shape.extents, shape.extents + shape.rank);
    for (; merged > 1; merged--) {
        made[0] *= made[1];
        made.erase(made.begin() + 1);
    }
    return made;
}

void execute(const garner_plan *plan, const ov::Tensor &data, const ov::Tensor &indices, ov::Tensor &out,
             garner_status &status, garner_error &error)
{
    const auto *exec = threads_here();
    if (data.get_element_type() != ov::element::string) {
        status = garner_execute(plan, data.data(), indices.data(), out.data(), exec, &error);
        return;
    }
    // Strings have owners: views of them are gathered, and then assigned.
    std::vector<garner_string> from(data.get_size()), to(out.get_size());
    const auto *words = data.data<const std::string>();
    for (size_t i = 0; i < from.size(); i++) {
        from[i].bytes = words[i].data();
        from[i].size = words[i].size();
    }
    status = garner_execute(plan, from.data(), indices.data(), to.data(), exec, &error);
    if (status != GARNER_OK) return;
    auto *texts = out.data<std::string>();
    for (size_t i = 0; i < to.size(); i++)
        texts[i].assign(to[i].size > 0 ? to[i].bytes : "", to[i].size);
}

// Streams of one thread lose the exceptions of their layers: whoever reads on must not find memory of others.
void clear(ov::Tensor &out)
{
    if (out.get_element_type() != ov::element::string && out.is_continuous())
        std::memset(out.data(), 0, out.get_byte_size());
}

class Refusal : public ov::Exception
{
  public:
    explicit Refusal(const std::string &message) : ov::Exception(message)
    {
    }
};

[[noreturn]] void refuse(const std::string &name, const garner_error &error)
{
    std::array<char, 2048> message;
    throw Refusal(garner_layer_message(name.c_str(), error.message, message.data(), message.size()));
}

// ---- The graph ----------------------------------------------------------------------------------

// Every node that a model came with carries this by the time the plug-in begins to convert types; conversions
// that it puts in carry nothing.
bool came_with_the_model(const ov::Node &node)
{
    return node.get_rt_info().count("fused_names_0") > 0;
}

// Whether a result may be of any type: whoever reads it takes them all.
bool is_read_as_it_is(const ov::Node &node, int depth)
{
    if (depth == 0) return false;
    for (const auto &reader : node.get_output_target_inputs(0)) {
        const auto &taker = *reader.get_node();
        if (is_ours(taker)) {
            if (reader.get_index() == 0 && !is_read_as_it_is(taker, depth - 1)) return false;
        } else if (!ov::is_type<ov::op::v0::Result>(&taker) && !ov::is_type<ov::op::v0::Convert>(&taker) &&
                   !ov::is_type<ov::op::util::ShapeOfBase>(&taker)) {
            return false;
        }
    }
    return true;
}

// Whether a conversion is one that the plug-in put in, and its input would do as well.
bool can_be_left_out(const ov::op::v0::Convert &convert, size_t port)
{
    const auto from = convert.get_input_element_type(0), to = convert.get_output_element_type(0);
    const auto &giver = *convert.get_input_node_ptr(0);
    return !came_with_the_model(convert) && from.is_real() == to.is_real() &&
           (port == 0 || from.is_integral_number()) &&
           (ov::is_type<ov::op::v0::Parameter>(&giver) || is_ours(giver));
}

// Whether a constant is what the plug-in made of another one by conversion.
bool is_made_of(const ov::Node &constant, const ov::Output<ov::Node> &origin)
{
    return origin.get_node() != nullptr && constant.get_element_type() == ov::element::i32 &&
           constant.get_friendly_name() == origin.get_node()->get_friendly_name() &&
           constant.get_output_partial_shape(0) == origin.get_partial_shape();
}

} // namespace

bool is_ours(const ov::Node &node)
{
    return std::string("garner") == node.get_type_info().version_id;
}

void check_inputs(const ov::Node &node, size_t count)
{
    if (node.get_input_size() == count) return;
    const auto given = std::to_string(node.get_input_size()) + " inputs, not " + std::to_string(count);
    throw Refusal(std::string(node.get_type_name()) + ": the layer has " + given);
}

void take_unconverted(ov::Node &node, ov::Output<ov::Node> &table)
{
    const auto is_constant = ov::is_type<ov::op::v0::Constant>(node.get_input_node_ptr(0));
    const auto type = node.get_input_element_type(0);
    if (is_constant && (type == ov::element::i64 || type == ov::element::u64)) table = node.input_value(0);
    if (!came_with_the_model(node)) return;
    bool is_outermost = false; // the plug-in puts no conversions behind the inputs of a subgraph
    for (size_t i = 0; i < node.get_input_size(); i++) {
        const auto *convert = ov::as_type<ov::op::v0::Convert>(node.get_input_node_ptr(i));
        if (convert == nullptr || !can_be_left_out(*convert, i)) continue;
        if (i == 0 && !is_read_as_it_is(node, 16)) continue;
        const auto source = convert->input_value(0);
        node.input(i).replace_source_output(source);
        is_outermost = is_outermost || ov::is_type<ov::op::v0::Parameter>(source.get_node());
    }
    if (is_constant && is_outermost && is_made_of(*node.get_input_node_ptr(0), table) &&
        is_read_as_it_is(node, 16))
        node.input(0).replace_source_output(table);
}

bool is_given_back(const ov::Node &node, GivenBack when)
{
    return when != GivenBack::never && came_with_the_model(node) &&
           (when == GivenBack::always || !is_read_as_it_is(node, 16));
}

void put_in_place(ov::Node &node, const ov::NodeVector &others)
{
    const auto self = node.shared_from_this();
    others.front()->set_friendly_name(node.get_friendly_name());
    ov::copy_runtime_info(self, others);
    ov::replace_node(self, others.back());
}

ov::NodeVector make_runtimes(const ov::op::v8::Gather &node)
{
    if (!is_unchecked(node)) return {make_stock(node)};
    using ov::op::v0::Constant;
    const auto first = Constant::create(ov::element::i64, {}, {0}),
               second = Constant::create(ov::element::i64, {}, {1});
    const auto row = std::make_shared<ov::op::v0::Unsqueeze>(node.input_value(0), first);
    const auto gather = std::make_shared<ov::op::v8::Gather>(row, node.input_value(1), second);
    return {gather, row, std::make_shared<ov::op::v0::Squeeze>(gather, first)};
}

ov::DiscreteTypeInfo foreign_type(const char *name, const ov::DiscreteTypeInfo &base)
{
    ov::DiscreteTypeInfo type(name, "garner", &base);
    type.hash(); // computes and keeps it
    return type;
}

ov::DiscreteTypeInfo related_type(const char *name, const ov::DiscreteTypeInfo &base)
{
    auto type = base; // with the hash that it keeps
    type.name = name;
    type.version_id = "garner";
    return type;
}

bool infers_like_onnx(const ov::op::v6::GatherElements &node)
{
    if (node.get_input_size() < 2) return false; // it has none yet
    const auto &data = node.get_input_partial_shape(0), &indices = node.get_input_partial_shape(1);
    if (data.rank().is_dynamic() || indices.rank() != data.rank()) return false;
    const auto rank = data.rank().get_length();
    for (int64_t i = 0; i < rank; i++)
        if (i != node.get_axis() && i - rank != node.get_axis() &&
            (data[i].is_dynamic() || data[i] != indices[i]))
            return false;
    return true;
}

bool infers_like_onnx(const ov::op::util::GatherNDBase &node)
{
    return node.get_batch_dims() == 0;
}

bool infer_like_onnx(const ov::op::v6::GatherElements &node, ov::PartialShape &out)
{
    out = node.get_input_partial_shape(1);
    return true;
}

bool infer_like_onnx(const ov::op::v8::GatherND &node, ov::PartialShape &out)
{
    const auto &data = node.get_input_partial_shape(0), &indices = node.get_input_partial_shape(1);
    const auto batch = static_cast<int64_t>(node.get_batch_dims());
    if (batch <= 0 || data.rank().is_dynamic() || indices.rank().is_dynamic()) return false;
    const auto data_rank = data.rank().get_length(), index_rank = indices.rank().get_length();
    if (index_rank <= batch || indices[index_rank - 1].is_dynamic()) return false;
    const auto gathered = batch + indices[index_rank - 1].get_length();
    if (gathered > data_rank) return false;

    std::vector<ov::Dimension> extents(indices.begin(), indices.end() - 1);
    for (int64_t i = 0; i < batch; i++)
        if (!ov::Dimension::broadcast_merge(extents[static_cast<size_t>(i)], data[i], indices[i]))
            return false;
    extents.insert(extents.end(), data.begin() + gathered, data.end());
    out = ov::PartialShape(extents);
    return true;
}

std::shared_ptr<garner_layer> make_layer(garner_kind kind, const std::string &spec)
{
    garner_layer *layer = nullptr;
    garner_error error;
    if (garner_layer_create(&layer, kind, spec.c_str(), &error) != GARNER_OK) throw Refusal(error.message);
    return std::shared_ptr<garner_layer>(layer, garner_layer_destroy);
}

void run_layer(garner_layer &layer, const std::string &name, garner_layer_call &call, const ov::Tensor &data,
               const ov::Tensor &indices, ov::Tensor &out, bool merge_batch)
{
    garner_layer_plan found;
    garner_error error;
    call.data = view_of(data);
    call.indices = view_of(indices);
    if (garner_layer_find(&layer, &call, &found, &error) != GARNER_OK) refuse(name, error);

    garner_status status = GARNER_OK;
    try {
        const auto *shape = garner_plan_output(found.plan);
        const auto count = static_cast<size_t>(shape->count);
        if (out.get_size() != count ||
            count == 0) { // as many elements are of the right shape, none may not be
            const auto wanted = shape_of(*shape, merge_batch ? call.batch_dims : 0);
            if (out.get_shape() != wanted) out.set_shape(wanted);
        }
        ov::Tensor copies[2];
        execute(found.plan, dense(data, copies[0]), dense(indices, copies[1]), out, status, error);
    } catch (...) {
        garner_layer_done(&found);
        throw;
    }
    garner_layer_done(&found);
    if (status == GARNER_OK) return;
    clear(out);
    refuse(name, error);
}

// Constants of imported models lie unaligned.
template <class T> static int64_t read(const void *at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    const auto number = static_cast<int64_t>(value);
    if (std::is_unsigned<T>::value && number < 0) // it would count from the end
        throw Refusal("Gather: axis is " + std::to_string(value) + ", which no tensor has");
    return number;
}

int64_t integer_of(const ov::Tensor &scalar)
{
    using ov::element::Type_t;
    if (scalar.get_size() == 0) throw Refusal("Gather: axis is an empty tensor, not one integer");
    const void *at = scalar.data();
    switch (static_cast<Type_t>(scalar.get_element_type())) {
    case Type_t::i64:
        return read<int64_t>(at);
    case Type_t::i32:
        return read<int32_t>(at);
    case Type_t::i16:
        return read<int16_t>(at);
    case Type_t::i8:
        return read<int8_t>(at);
    case Type_t::u64:
        return read<uint64_t>(at);
    case Type_t::u32:
        return read<uint32_t>(at);
    case Type_t::u16:
        return read<uint16_t>(at);
    case Type_t::u8:
        return read<uint8_t>(at);
    default:
        throw Refusal("Gather: axis is of type " + scalar.get_element_type().to_string() +
                      ", not an integer");
    }
}

} // namespace garner
