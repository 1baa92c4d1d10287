// SPDX-License-Identifier: MIT
//
// What core.add_extension finds here: for OpenVINO's own files one extension per operator and opset, for ONNX
// one conversion per operator, and garner's own types, for files and caches that were written with them in
// place.
#include <array>

#include "choice.hpp"
#include "operators.hpp"
#include <openvino/core/extension.hpp>
#include <openvino/core/op_extension.hpp>
#include <openvino/frontend/onnx/extension/conversion.hpp>
#include <openvino/op/constant.hpp>

namespace garner
{
namespace
{

using ov::op::v0::Constant;

// What the compiler was told: library(min_bytes=...) makes one file for each value.
constexpr int64_t min_bytes = GARNER_MIN_BYTES;

// Whether the runtime keeps a layer, its shape inferred; one that it may still get back is told so.
template <class Base> bool is_left(Layer<Base> &node, const ov::OutputVector &inputs, int64_t fewer_than)
{
    if (is_mistaken_for_data(node) || is_unsafe_to_leave(node)) return false;
    if (is_shape_arithmetic(inputs)) return true;
    const auto choice = choose(node, node.get_spec(), fewer_than);
    if (choice == Choice::runtimes && !is_unchecked(node)) return true;
    if (choice == Choice::runtimes) node.give_back(GivenBack::always);
    if (choice == Choice::runtimes_if_computed_with) node.give_back(GivenBack::if_computed_with);
    return false;
}

// ---- OpenVINO's own files -----------------------------------------------------------------------

template <class Made>
ov::OutputVector make(const ov::OutputVector &inputs, ov::AttributeVisitor &visitor, const char *)
{
    auto node = std::make_shared<Made>();
    node->set_arguments(inputs);
    if (node->visit_attributes(visitor)) node->constructor_validate_and_infer_types();
    return node->outputs();
}

// The attributes are the stock operator's; the version is what the file says, not what an attribute says.
template <class Base>
std::shared_ptr<Layer<Base>> read_stock(const ov::OutputVector &inputs, ov::AttributeVisitor &visitor,
                                        const char *spec)
{
    auto node = std::make_shared<Layer<Base>>();
    node->set_arguments(inputs);
    node->Base::visit_attributes(visitor);
    node->set_spec(spec);
    node->constructor_validate_and_infer_types();
    return node;
}

// Ours, or the stock operator where the choice is against it.
template <class Stock, class Base = Stock>
ov::OutputVector replace(const ov::OutputVector &inputs, ov::AttributeVisitor &visitor, const char *spec)
{
    const auto node = read_stock<Base>(inputs, visitor, spec);
    return is_left(*node, inputs, min_bytes) ? make<Stock>(inputs, visitor, spec) : node->outputs();
}

using Maker = ov::OutputVector (*)(const ov::OutputVector &, ov::AttributeVisitor &, const char *);

// Makes a node where a file has an operator of this type and version.
class Replacement : public ov::BaseOpExtension
{
  public:
    Replacement(const ov::DiscreteTypeInfo &type, Maker maker, const char *spec)
        : m_type(type), m_maker(maker), m_spec(spec)
    {
    }
    const ov::DiscreteTypeInfo &get_type_info() const override
    {
        return m_type;
    }
    ov::OutputVector create(const ov::OutputVector &inputs, ov::AttributeVisitor &visitor) const override
    {
        return m_maker(inputs, visitor, m_spec);
    }
    std::vector<ov::Extension::Ptr> get_attached_extensions() const override
    {
        return {};
    }

  private:
    ov::DiscreteTypeInfo m_type;
    Maker m_maker;
    const char *m_spec;
};

struct Version {
    const char *type;
    size_t first_opset, last_opset;
    Maker maker;
    const char *spec;
};

constexpr std::array<const char *, 17> opsets = {
    "",       "opset1",  "opset2",  "opset3",  "opset4",  "opset5",  "opset6",  "opset7", "opset8",
    "opset9", "opset10", "opset11", "opset12", "opset13", "opset14", "opset15", "opset16"};

const Version versions[] = {
    {"Gather", 1, 6, replace<ov::op::v1::Gather, ov::op::v8::Gather>, "openvino-1"},
    {"Gather", 7, 7, replace<ov::op::v7::Gather, ov::op::v8::Gather>, "openvino-7"},
    {"Gather", 8, 16, replace<ov::op::v8::Gather, ov::op::v8::Gather>, "openvino-8"},
    {"GatherElements", 6, 16, replace<ov::op::v6::GatherElements>, "openvino-6"},
    {"GatherND", 5, 7, replace<ov::op::v5::GatherND>, "openvino-5"},
    {"GatherND", 8, 16, replace<ov::op::v8::GatherND>, "openvino-8"},
};

// One of garner's own. Where a file or a cache has it, it stays; garner.openvino.replace says by an attribute
// that it only would like to have it, and finds a stock operator where the choice is against it.
template <class Base>
ov::OutputVector make_or_leave(const ov::OutputVector &inputs, ov::AttributeVisitor &visitor, const char *)
{
    int64_t asked = -1;
    visitor.on_attribute("min_bytes", asked);
    auto node = std::make_shared<Layer<Base>>();
    node->set_arguments(inputs);
    if (node->visit_attributes(visitor)) node->constructor_validate_and_infer_types();
    return asked >= 0 && is_left(*node, inputs, asked) ? make<Base>(inputs, visitor, nullptr)
                                                       : node->outputs();
}

template <class Base> ov::Extension::Ptr own_type()
{
    return std::make_shared<Replacement>(Layer<Base>::get_type_info_static(), make_or_leave<Base>, nullptr);
}

// ---- ONNX ---------------------------------------------------------------------------------------

template <class Base> std::shared_ptr<Layer<Base>> onnx_layer()
{
    auto node = std::make_shared<Layer<Base>>();
    node->set_spec(
        "onnx-13"); // of earlier versions only the type lists differ, which are the front end's business
    return node;
}

// Ours, or the stock operator with the same attributes where the choice is against it.
template <class Base>
ov::OutputVector take_or_leave(const std::shared_ptr<Layer<Base>> &node, const ov::OutputVector &inputs)
{
    node->complete(inputs);
    return is_left(*node, inputs, min_bytes) ? make_stock<Base>(*node)->outputs() : node->outputs();
}

ov::OutputVector convert_gather(const ov::frontend::NodeContext &context)
{
    const auto axis =
        Constant::create(ov::element::i64, ov::Shape{}, {context.get_attribute<int64_t>("axis", 0)});
    return take_or_leave(onnx_layer<ov::op::v8::Gather>(),
                         {context.get_input(0), context.get_input(1), axis});
}

ov::OutputVector convert_gather_elements(const ov::frontend::NodeContext &context)
{
    auto node = onnx_layer<ov::op::v6::GatherElements>();
    node->set_axis(context.get_attribute<int64_t>("axis", 0));
    return take_or_leave(node, {context.get_input(0), context.get_input(1)});
}

ov::OutputVector convert_gather_nd(const ov::frontend::NodeContext &context)
{
    auto node = onnx_layer<ov::op::v8::GatherND>();
    node->set_batch_dims(static_cast<size_t>(context.get_attribute<int64_t>("batch_dims", 0)));
    return take_or_leave(node, {context.get_input(0), context.get_input(1)});
}

std::vector<ov::Extension::Ptr> all_extensions()
{
    using ov::frontend::onnx::ConversionExtension;
    std::vector<ov::Extension::Ptr> all = {
        own_type<ov::op::v8::Gather>(),
        own_type<ov::op::v6::GatherElements>(),
        own_type<ov::op::v8::GatherND>(),
        own_type<ov::op::v5::GatherND>(),
        std::make_shared<ConversionExtension>("Gather", convert_gather),
        std::make_shared<ConversionExtension>("GatherElements", convert_gather_elements),
        std::make_shared<ConversionExtension>("GatherND", convert_gather_nd),
    };
    for (const auto &version : versions)
        for (size_t opset = version.first_opset; opset <= version.last_opset; opset++) {
            const ov::DiscreteTypeInfo type(version.type, opsets[opset]);
            all.push_back(std::make_shared<Replacement>(type, version.maker, version.spec));
        }
    return all;
}

} // namespace
} // namespace garner

OPENVINO_CREATE_EXTENSIONS(garner::all_extensions())
