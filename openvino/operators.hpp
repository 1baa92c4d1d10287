// SPDX-License-Identifier: MIT
//
// The operators that stand in a model in place of OpenVINO's: each derives from the one that it replaces, so
// shape inference and transformations treat it alike, under a type name of its own, so no plug-in has a
// kernel for it and all call evaluate. What evaluate does is in layer.c.
#pragma once

#include <memory>
#include <string>

#include "faults.hpp"
#include "layer.h"
#include <openvino/op/gather.hpp>
#include <openvino/op/gather_elements.hpp>
#include <openvino/op/gather_nd.hpp>

namespace garner
{

// Whether a layer is the extension's own.
bool is_ours(const ov::Node &node);

// A layer of layer.h with an owner. Copies of an operator share it, and with it the plans.
std::shared_ptr<garner_layer> make_layer(garner_kind kind, const std::string &spec);

// Runs a layer on tensors. Fails with an exception that ends in garner's sentence.
void run_layer(garner_layer &layer, const std::string &name, garner_layer_call &call, const ov::Tensor &data,
               const ov::Tensor &indices, ov::Tensor &out, bool merge_batch);

int64_t integer_of(const ov::Tensor &scalar);

// Refuses a layer of a file that has more or fewer.
void check_inputs(const ov::Node &node, size_t count);

// The shape of a result where ONNX allows what OpenVINO does not: indices of GatherElements that are smaller
// than data off the axis, and (as OpenVINO's reader of ONNX has it) batch extents of 1 that stand for any.
// False if this is neither.
bool infer_like_onnx(const ov::op::v6::GatherElements &node, ov::PartialShape &out);
bool infer_like_onnx(const ov::op::v8::GatherND &node, ov::PartialShape &out);
inline bool infer_like_onnx(const ov::Node &, ov::PartialShape &)
{
    return false;
}

// Takes away a conversion that the plug-in put in front of a layer's input, where nothing depends on it.
// `table` remembers data that are a constant of i64 or u64: of these the plug-in makes another one.
void take_unconverted(ov::Node &node, ov::Output<ov::Node> &table);

// When a layer of a model that is being compiled is given back to the runtime: if another layer computes with
// its result, so that the plug-in converts its data anyway; or always.
enum class GivenBack { never, if_computed_with, always };
bool is_given_back(const ov::Node &node, GivenBack when);

// Puts the runtime's nodes in a layer's place, the first, which gathers, under its name.
void put_in_place(ov::Node &node, const ov::NodeVector &others);

// As the model gives it. Gather-8 answers with the rank of indices added to what is negative, and a copy with
// that number would have it added once more, until too many batch axes look like none.
inline int64_t given_batch_dims(const ov::op::util::GatherBase &node)
{
    return node.get_batch_dims();
}

inline void copy_attributes(const ov::op::v8::Gather &from, ov::op::v8::Gather &to)
{
    to.set_batch_dims(given_batch_dims(from));
}
inline void copy_attributes(const ov::op::v6::GatherElements &from, ov::op::v6::GatherElements &to)
{
    to.set_axis(from.get_axis());
}
inline void copy_attributes(const ov::op::util::GatherNDBase &from, ov::op::util::GatherNDBase &to)
{
    to.set_batch_dims(from.get_batch_dims());
}

// The runtime's operator with the inputs and attributes of one of ours.
template <class Base> std::shared_ptr<Base> make_stock(const Base &node)
{
    auto stock = std::make_shared<Base>();
    copy_attributes(node, *stock);
    stock->set_arguments(node.input_values());
    stock->constructor_validate_and_infer_types();
    return stock;
}

// The nodes that run one of ours in the runtime, the one that gathers first and that of the result last. A
// vector that the runtime would look at no index of becomes a matrix of one row, for which it does.
template <class Base> ov::NodeVector make_runtimes(const Base &node)
{
    return {make_stock(node)};
}
ov::NodeVector make_runtimes(const ov::op::v8::Gather &node);

// What evaluate reads from a node.
inline void read_attributes(const ov::op::v8::Gather &node, const ov::TensorVector &inputs,
                            garner_layer_call &call)
{
    call.axis = integer_of(inputs.at(2));
    call.batch_dims = given_batch_dims(node);
}
inline void read_attributes(const ov::op::v6::GatherElements &node, const ov::TensorVector &,
                            garner_layer_call &call)
{
    call.axis = node.get_axis();
}
inline void read_attributes(const ov::op::util::GatherNDBase &node, const ov::TensorVector &,
                            garner_layer_call &call)
{
    call.batch_dims = static_cast<int64_t>(node.get_batch_dims());
}

template <class Base> struct Replacing;

template <> struct Replacing<ov::op::v8::Gather> {
    static constexpr auto name = "GarnerGather";
    static constexpr auto kind = GARNER_GATHER;
    static constexpr size_t inputs = 3;
};
template <> struct Replacing<ov::op::v6::GatherElements> {
    static constexpr auto name = "GarnerGatherElements";
    static constexpr auto kind = GARNER_GATHER_ELEMENTS;
    static constexpr size_t inputs = 2;
};
template <> struct Replacing<ov::op::v8::GatherND> {
    static constexpr auto name = "GarnerGatherND";
    static constexpr auto kind = GARNER_GATHER_ND;
    static constexpr size_t inputs = 2;
};
template <> // apart from GarnerGatherND because the batch axes of its result are one
struct Replacing<ov::op::v5::GatherND> {
    static constexpr auto name = "GarnerGatherND5";
    static constexpr auto kind = GARNER_GATHER_ND;
    static constexpr size_t inputs = 2;
};

// Who a layer is: a type of its own, for which every plug-in infers shapes by copying and validating the node
// in each call; or one that compares equal to the type that it derives from, since types are compared by
// their hash, so that the plug-in infers its shape as quickly as its own, and only when an input's has
// changed. Kernels are looked for by name, which is ours in both. A runtime that compared names would find
// the first in the second, which is slower and as right. Only layers that refuse no index can have the
// second: the plug-in notes the shapes of inputs after a call that went well, so that after a refusal a call
// with the shapes before it would get the refused call's output shape. A type of its own that derives from no
// gather is for those that the runtime's transformations must not find.
ov::DiscreteTypeInfo foreign_type(const char *name, const ov::DiscreteTypeInfo &base);
ov::DiscreteTypeInfo related_type(const char *name, const ov::DiscreteTypeInfo &base);

// Whether the runtime's own inference gives the shape of an ONNX layer, too.
bool infers_like_onnx(const ov::op::v6::GatherElements &node);
bool infers_like_onnx(const ov::op::util::GatherNDBase &node);

template <class Base> class Layer : public Base
{
  public:
    static const ov::DiscreteTypeInfo &get_type_info_static()
    {
        static const auto type = foreign_type(Replacing<Base>::name, Base::get_type_info_static());
        return type;
    }

    const ov::DiscreteTypeInfo &get_type_info() const override
    {
        static const auto type = related_type(Replacing<Base>::name, Base::get_type_info_static());
        static const auto hidden = foreign_type(Replacing<Base>::name, ov::op::Op::get_type_info_static());
        if (is_mistaken_for_data(*this)) return hidden;
        return m_may_refuse ? get_type_info_static() : type;
    }

    const std::string &get_spec() const
    {
        return m_spec;
    }

    void set_spec(const std::string &spec)
    {
        m_layer = make_layer(Replacing<Base>::kind, spec);
        m_spec = spec;
        m_is_onnx = spec.compare(0, 5, "onnx-") == 0;
        m_may_refuse = Replacing<Base>::kind != GARNER_GATHER || spec != "openvino-8";
    }

    // The node that a reader makes: arguments and attributes first, then everything else.
    void complete(const ov::OutputVector &inputs)
    {
        this->set_arguments(inputs);
        this->constructor_validate_and_infer_types();
    }

    // It is here for its data's sake alone, which the plug-in would convert, or until nodes of the runtime's
    // can have its name: see choice.hpp and faults.hpp.
    void give_back(GivenBack when)
    {
        m_given_back = when;
    }

    bool visit_attributes(ov::AttributeVisitor &visitor) override
    {
        const auto before = m_spec;
        if (!Base::visit_attributes(visitor)) return false;
        visitor.on_attribute("spec", m_spec);
        if (m_spec != before || !m_layer) set_spec(m_spec);
        return true;
    }

    std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector &inputs) const override
    {
        auto copy = std::make_shared<Layer>();
        copy_attributes(*this, *copy);
        copy->m_layer = m_layer;
        copy->m_spec = m_spec;
        copy->m_is_onnx = m_is_onnx;
        copy->m_may_refuse = m_may_refuse;
        copy->m_given_back = m_given_back;
        copy->complete(inputs);
        return copy;
    }

    void validate_and_infer_types() override
    {
        ov::PartialShape shape;
        check_inputs(*this, Replacing<Base>::inputs);
        take_unconverted(*this, m_table);
        if (m_is_onnx && infer_like_onnx(*this, shape))
            this->set_output_type(0, this->get_input_element_type(0), shape);
        else
            Base::validate_and_infer_types();
        if (is_given_back(*this, m_given_back))
            put_in_place(*this, make_runtimes(static_cast<const Base &>(*this)));
    }

    bool has_evaluate() const override
    {
        return true;
    }

    bool evaluate(ov::TensorVector &outputs, const ov::TensorVector &inputs) const override
    {
        garner_layer_call call{};
        read_attributes(*this, inputs, call);
        run_layer(*m_layer, this->get_friendly_name(), call, inputs.at(0), inputs.at(1), outputs.at(0),
                  std::is_same<Base, ov::op::v5::GatherND>::value);
        return true;
    }

    // Values at compile time: what cannot be computed is left for the run, which says why.
    bool constant_fold(ov::OutputVector &outputs, const ov::OutputVector &inputs) override
    {
        return quietly([&] { return Base::constant_fold(outputs, inputs); });
    }
    bool evaluate_lower(ov::TensorVector &outputs) const override
    {
        return quietly([&] { return Base::evaluate_lower(outputs); });
    }
    bool evaluate_upper(ov::TensorVector &outputs) const override
    {
        return quietly([&] { return Base::evaluate_upper(outputs); });
    }

  private:
    std::string m_spec;
    bool m_is_onnx = false, m_may_refuse = true;
    GivenBack m_given_back = GivenBack::never;
    std::shared_ptr<garner_layer> m_layer;
    ov::Output<ov::Node> m_table;

    template <class Attempt> static bool quietly(const Attempt &attempt)
    {
        try {
            return attempt();
        } catch (const std::exception &) {
            return false;
        }
    }
};

} // namespace garner
