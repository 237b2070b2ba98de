// Python views of the tree. A view is a shared tree and a node's index; nothing else is
// kept, so a module holds no Python object until one is asked for.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <bitset>

#include "bindings.hpp"
#include "syntax/format.hpp"
#include "syntax/parser.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace ptxkit {

namespace {

using syntax::Kind;
using syntax::kNone;
using syntax::Lexer;
using syntax::Token;
using syntax::Tree;
using TreePointer = std::shared_ptr<const Tree>;

struct NodeView {
    TreePointer tree;
    std::uint32_t index;

    const syntax::Node &node() const { return tree->node(index); }
    std::string_view text() const { return tree->text(node().start, node().end); }
};

// Instructions are walked by the million, so their accessors are native.
struct InstructionView : NodeView {
    std::uint32_t opcode_index() const {
        const std::uint32_t first = index + 1;
        return tree->node(first).kind == Kind::Guard ? tree->node(first).next : first;
    }
    std::string_view opcode_text() const {
        const syntax::Node &opcode = tree->node(opcode_index());
        return tree->text(opcode.start, opcode.end);
    }
};

// The Python class of each kind; the module's attribute `kind_classes` owns them.
std::array<PyObject *, syntax::kKindCount> g_classes{};

// The names of the kinds as Python strings; the module's attribute `node_kinds` owns them.
std::array<PyObject *, syntax::kKindCount> g_names{};

nb::object to_str(std::string_view text) {
    return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()),
                                          "surrogateescape"));
}

// An error of ptxkit's own family.
[[noreturn]] void raise_usage(const std::string &message) {
    const nb::object error = nb::module_::import_("ptxkit.errors").attr("UsageError");
    PyErr_SetString(error.ptr(), message.c_str());
    throw nb::python_error();
}

nb::object make_view(const TreePointer &tree, std::uint32_t index) {
    if (index == kNone || index >= tree->nodes().size()) return nb::none();
    const Kind kind = tree->node(index).kind;
    PyObject *type = g_classes[static_cast<std::size_t>(kind)];
    if (type == nullptr) throw nb::value_error("node classes are not registered");
    nb::object instance = nb::inst_alloc(type);
    if (kind == Kind::Instruction) {
        new (nb::inst_ptr<InstructionView>(instance)) InstructionView{{tree, index}};
    } else {
        new (nb::inst_ptr<NodeView>(instance)) NodeView{tree, index};
    }
    nb::inst_mark_ready(instance);
    return instance;
}

nb::tuple views_of(const TreePointer &tree, std::uint32_t from, std::uint32_t end) {
    Py_ssize_t count = 0;
    for (std::uint32_t at = from; at < end; at = tree->node(at).next) ++count;
    nb::object result = nb::steal(PyTuple_New(count));
    if (!result.is_valid()) nb::raise_python_error();
    Py_ssize_t position = 0;
    for (std::uint32_t at = from; at < end; at = tree->node(at).next)
        PyTuple_SET_ITEM(result.ptr(), position++, make_view(tree, at).release().ptr());
    return nb::borrow<nb::tuple>(result);
}

// The name without white space between a name and its modifiers.
std::string joined(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (syntax::is(text[at], syntax::kFollow) || text[at] == '.' || text[at] == ':') {
            out += text[at];
            continue;
        }
        if (text.substr(at, 2) == "//" || text[at] == '#') {
            at = text.find('\n', at);
        } else if (text.substr(at, 2) == "/*") {
            at = text.find("*/", at) + 1;
        }
        if (at == std::string_view::npos) break;
    }
    return out;
}

bool is_contiguous(std::string_view text) {
    for (char c : text)
        if (!syntax::is(c, syntax::kWordDot)) return false;
    return true;
}

nb::object opcode_str(const InstructionView &view) {
    const std::string_view text = view.opcode_text();
    return is_contiguous(text) ? to_str(text) : to_str(joined(text));
}

nb::object name_str(const InstructionView &view) {
    const std::string_view text = view.opcode_text();
    std::size_t end = 0;
    while (end < text.size() && syntax::is(text[end], syntax::kFollow)) ++end;
    return to_str(text.substr(0, end));
}

nb::tuple modifiers(const InstructionView &view) {
    const std::string text = joined(view.opcode_text());
    nb::list words;
    std::size_t dot = text.find('.');
    while (dot != std::string::npos) {
        const std::size_t end = text.find('.', dot + 1);
        words.append(to_str(std::string_view(text).substr(dot, end - dot)));
        dot = end;
    }
    return nb::tuple(words);
}

nb::object guard(const InstructionView &view) {
    const std::uint32_t first = view.index + 1;
    return view.tree->node(first).kind == Kind::Guard ? make_view(view.tree, first) : nb::none();
}

// The text with a mark for every name, and the names in the order in which they first appear:
// instructions that differ in their names alone share the text.
nb::tuple pattern(const InstructionView &view) {
    const Tree &tree = *view.tree;
    std::string text;
    std::vector<std::string_view> names;
    std::uint32_t from = view.node().start;
    for (std::uint32_t at = view.index + 1; at < view.node().next; ++at) {
        const syntax::Node &node = tree.node(at);
        if (node.kind != Kind::Name) continue;
        const std::string_view name = tree.text(node.start, node.end - node.selector);
        const auto known = std::find(names.begin(), names.end(), name);
        const auto number = static_cast<std::size_t>(known - names.begin());
        if (known == names.end()) names.push_back(name);
        text += tree.text(from, node.start);
        text += '\1';  // in no PTX
        text += std::to_string(number);
        from = node.end - node.selector;
    }
    text += tree.text(from, view.node().end);
    nb::object list = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(names.size())));
    if (!list.is_valid()) nb::raise_python_error();
    for (std::size_t at = 0; at < names.size(); ++at)
        PyTuple_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(at), to_str(names[at]).release().ptr());
    return nb::make_tuple(to_str(text), list);
}

constexpr const char *kTokenNames[] = {
    "end", "identifier", "dotword", "integer", "float", "string", "punctuation", "punctuation",
    "punctuation", "punctuation", "punctuation", "punctuation", "punctuation", "punctuation",
    "punctuation", "comment", "preprocessor", "bad", "bad", "bad", "bad",
};

// Tokens of a node as (kind, text, start, end); `own` leaves out those of its children.
nb::list tokens(const NodeView &view, bool own, bool trivia) {
    const Tree &tree = *view.tree;
    const syntax::Node &node = view.node();
    const char *base = tree.text().data();
    Lexer lexer(base, base + tree.text().size());
    lexer.move_to(base + node.start);
    std::uint32_t child = view.index + 1 < node.next ? view.index + 1 : kNone;
    nb::list result;
    for (;;) {
        if (own && child != kNone) {
            // Jump over the child when the next token would be its first.
            const Lexer::Mark mark = lexer.mark();
            lexer.next();
            const std::uint32_t ahead = lexer.start();
            lexer.reset(mark);
            if (ahead >= tree.node(child).start && !trivia) {
                lexer.move_to(base + tree.node(child).end);
                const std::uint32_t sibling = tree.node(child).next;
                child = sibling < node.next ? sibling : kNone;
                continue;
            }
        }
        if (trivia) lexer.next_with_trivia();
        else lexer.next();
        if (lexer.kind() == Token::End || lexer.start() >= node.end) break;
        result.append(nb::make_tuple(kTokenNames[static_cast<std::size_t>(lexer.kind())],
                                     to_str(lexer.text()), lexer.start(), lexer.end()));
    }
    return result;
}

// The texts of the tokens that belong to a node itself, not to its children.
nb::list own_texts(const NodeView &view) {
    const Tree &tree = *view.tree;
    const syntax::Node &node = view.node();
    const char *base = tree.text().data();
    Lexer lexer(base, base + tree.text().size());
    nb::list result;
    const auto read = [&](std::uint32_t from, std::uint32_t end) {
        lexer.move_to(base + from);
        for (lexer.next(); lexer.kind() != Token::End && lexer.start() < end; lexer.next())
            result.append(to_str(lexer.text()));
    };
    std::uint32_t from = node.start;
    for (std::uint32_t child = view.index + 1; child < node.next; child = tree.node(child).next) {
        if (from < tree.node(child).start) read(from, tree.node(child).start);
        from = tree.node(child).end;
    }
    if (from < node.end) read(from, node.end);
    return result;
}

// A sequence of nodes that makes its views one by one.
struct NodeList {
    TreePointer tree;
    std::vector<std::uint32_t> indices;
};

using Kinds = std::bitset<syntax::kKindCount>;

Kinds kinds_of(const nb::args &names) {
    Kinds found;
    for (nb::handle name : names) {
        const auto word = nb::cast<std::string>(name);
        std::size_t kind = 0;
        while (kind < syntax::kKindCount && word != syntax::kKindNames[kind]) ++kind;
        if (kind == syntax::kKindCount) raise_usage("no node kind is called '" + word + "'");
        found.set(kind);
    }
    return found;
}

// The nodes of some kinds; `direct` ones are children of the view itself.
NodeList find(const NodeView &view, const nb::args &names, bool direct) {
    const Kinds kinds = kinds_of(names);
    NodeList found{view.tree, {}};
    const Tree &tree = *view.tree;
    const std::uint32_t end = view.node().next;
    for (std::uint32_t at = view.index + 1; at < end; at = direct ? tree.node(at).next : at + 1)
        if (kinds[static_cast<std::size_t>(tree.node(at).kind)]) found.indices.push_back(at);
    return found;
}

// The nearest block or function around a node, as scopes are found by; kNone outside of all.
std::uint32_t home(const NodeView &view) {
    for (std::uint32_t at = view.index; at != kNone; at = view.tree->node(at).parent) {
        const Kind kind = view.tree->node(at).kind;
        if (kind == Kind::Block || kind == Kind::Function) return at;
    }
    return kNone;
}

struct NodeListIterator {
    nb::object owner;
    const NodeList *list;
    std::size_t at;
};

std::uint32_t previous_sibling(const NodeView &view) {
    const std::uint32_t parent = view.node().parent;
    if (parent == kNone) return kNone;
    if (view.index == parent + 1) return kNone;
    // The node before this one lies in the previous sibling's subtree.
    std::uint32_t at = view.index - 1;
    while (view.tree->node(at).parent != parent) at = view.tree->node(at).parent;
    return at;
}

// The deepest node whose span holds the offset.
std::uint32_t node_at(const NodeView &view, std::uint32_t offset) {
    const Tree &tree = *view.tree;
    std::uint32_t at = view.index;
    for (;;) {
        std::uint32_t inner = kNone;
        const std::uint32_t end = tree.node(at).next;
        for (std::uint32_t child = at + 1; child < end; child = tree.node(child).next) {
            if (tree.node(child).start > offset) break;
            if (offset < tree.node(child).end) inner = child;
        }
        if (inner == kNone) return at;
        at = inner;
    }
}

nb::list diagnostics(const NodeView &view) {
    nb::list result;
    for (const syntax::Diagnostic &one : view.tree->diagnostics())
        result.append(nb::make_tuple(one.code, to_str(one.message), to_str(one.hint), one.start,
                                     one.end));
    return result;
}

// Columns count characters, as editors do: bytes inside a UTF-8 sequence are not counted.
std::pair<std::uint32_t, std::uint32_t> position(const Tree &tree, std::uint32_t offset) {
    const syntax::Position found = tree.position(offset);
    std::uint32_t column = 1;
    const std::uint32_t start = offset - (found.column - 1);
    for (char c : tree.text(start, offset))
        column += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return {found.line, column};
}

// The tree reads the bytes object's own memory, which Python ends with a NUL byte, and holds
// the object for as long as it lives.
nb::object parse(const nb::bytes &text, const nb::bytes &filename) {
    std::shared_ptr<const void> owner(text.inc_ref().ptr(), [](const void *object) {
        nb::gil_scoped_acquire acquire;
        Py_DECREF(static_cast<PyObject *>(const_cast<void *>(object)));
    });
    const std::string_view view(text.c_str(), text.size());
    std::string name(filename.c_str(), filename.size());
    TreePointer tree;
    {
        nb::gil_scoped_release release;
        tree = syntax::parse(view, std::move(owner), std::move(name));
    }
    return make_view(tree, 0);
}

nb::bytes to_bytes(std::string_view text) { return nb::bytes(text.data(), text.size()); }

nb::bytes format_text(const NodeView &view, unsigned width) {
    std::string out;
    {
        nb::gil_scoped_release release;
        out = syntax::format(*view.tree, width);
    }
    return to_bytes(out);
}

void register_kinds(nb::module_ m, const nb::dict &classes) {
    for (std::size_t kind = 0; kind < syntax::kKindCount; ++kind) {
        const nb::object found = classes[syntax::kKindNames[kind]];
        g_classes[kind] = found.ptr();
    }
    m.attr("kind_classes") = classes;
}

void bind_node(nb::module_ &m) {
    nb::class_<NodeView>(m, "Node", "A view of one node of a parsed module.")
        .def_prop_ro("kind", [](const NodeView &v) {
            return nb::borrow(g_names[static_cast<std::size_t>(v.node().kind)]);
        })
        .def_prop_ro("text", [](const NodeView &v) { return to_str(v.text()); })
        .def_prop_ro("span", [](const NodeView &v) {
            return std::make_pair(v.node().start, v.node().end);
        })
        .def_prop_ro("index", [](const NodeView &v) { return v.index; })
        .def_prop_ro("flags", [](const NodeView &v) { return v.node().flags; })
        .def_prop_ro("selector_length", [](const NodeView &v) { return v.node().selector; })
        .def_prop_ro("line", [](const NodeView &v) { return v.tree->position(v.node().start).line; })
        .def_prop_ro("column", [](const NodeView &v) {
            return position(*v.tree, v.node().start).second;
        })
        .def_prop_ro("filename", [](const NodeView &v) { return to_str(v.tree->filename()); })
        .def_prop_ro("root", [](const NodeView &v) { return make_view(v.tree, 0); })
        .def_prop_ro("parent", [](const NodeView &v) { return make_view(v.tree, v.node().parent); })
        .def_prop_ro("children", [](const NodeView &v) {
            return views_of(v.tree, v.index + 1, v.node().next);
        })
        .def_prop_ro("next_sibling", [](const NodeView &v) {
            const std::uint32_t parent = v.node().parent;
            const std::uint32_t next = v.node().next;
            const bool last = parent == kNone || next >= v.tree->node(parent).next;
            return make_view(v.tree, last ? kNone : next);
        })
        .def_prop_ro("previous_sibling", [](const NodeView &v) {
            return make_view(v.tree, previous_sibling(v));
        })
        .def_prop_ro("ancestors", [](const NodeView &v) {
            nb::list found;
            for (std::uint32_t at = v.node().parent; at != kNone; at = v.tree->node(at).parent)
                found.append(make_view(v.tree, at));
            return nb::tuple(found);
        })
        .def_prop_ro("identifier", [](const NodeView &v) {
            const syntax::Node &node = v.node();
            return to_str(v.tree->text(node.start, node.end - node.selector));
        })
        .def("walk", [](const NodeView &v) {
            NodeList found{v.tree, {}};
            for (std::uint32_t at = v.index + 1; at < v.node().next; ++at)
                found.indices.push_back(at);
            return found;
        })
        .def_prop_ro("diagnostics_raw", &diagnostics)
        .def_prop_ro("memory", [](const NodeView &v) { return v.tree->memory(); })
        .def_prop_ro("node_count", [](const NodeView &v) { return v.tree->nodes().size(); })
        .def("tokens", &tokens, nb::kw_only(), "own"_a = false, "trivia"_a = false)
        .def("own_texts", &own_texts)
        .def("find", &find, "kinds"_a, "direct"_a = false)
        .def_prop_ro("home", [](const NodeView &v) { return make_view(v.tree, home(v)); })
        .def_prop_ro("home_index", [](const NodeView &v) { return home(v); })
        .def("node_at", [](const NodeView &v, std::uint32_t offset) {
            return make_view(v.tree, node_at(v, offset));
        })
        .def("position", [](const NodeView &v, std::uint32_t offset) {
            if (offset > v.tree->text().size())
                raise_usage("the offset is past the end of the text");
            return position(*v.tree, offset);
        })
        .def("line_text", [](const NodeView &v, std::uint32_t line) {
            return to_str(v.tree->line_text(line));
        })
        .def("line_start", [](const NodeView &v, std::uint32_t line) {
            return v.tree->line_start(line);
        })
        .def_prop_ro("line_count", [](const NodeView &v) { return v.tree->line_count(); })
        .def("source", [](const NodeView &v) { return to_bytes(v.tree->text()); })
        .def("emit_tree", [](const NodeView &v) {
            std::string out;
            {
                nb::gil_scoped_release release;
                out = v.tree->emit();
            }
            return to_bytes(out);
        })
        .def("format_text", &format_text, "width"_a)
        .def("same_tree", [](const NodeView &a, const NodeView &b) { return a.tree == b.tree; })
        .def("__eq__", [](const NodeView &a, nb::handle other) -> nb::object {
            if (!nb::isinstance<NodeView>(other)) return nb::borrow(Py_NotImplemented);
            const NodeView &b = *nb::inst_ptr<NodeView>(other);
            return nb::bool_(a.tree == b.tree && a.index == b.index);
        }, "other"_a.none(), nb::is_operator())
        .def("__repr__", [](const NodeView &v) {
            std::string text(v.text().substr(0, 60));
            for (char &c : text)
                if (syntax::is(c, syntax::kSpace)) c = ' ';
            if (v.text().size() > 60) text += "...";
            const std::string kind = syntax::kKindNames[static_cast<std::size_t>(v.node().kind)];
            const std::string line = std::to_string(v.tree->position(v.node().start).line);
            return to_str("<" + kind + " at line " + line + ": " + text + ">");
        })
        .def("__hash__", [](const NodeView &v) {
            return std::hash<const void *>()(v.tree.get()) ^ (std::size_t{v.index} * 0x9E3779B9u);
        });

    nb::class_<InstructionView, NodeView>(m, "InstructionNode", "Native accessors of instructions.")
        .def_prop_ro("opcode", &opcode_str)
        .def_prop_ro("name", &name_str)
        .def_prop_ro("modifiers", &modifiers)
        .def_prop_ro("guard", &guard)
        .def_prop_ro("operands", [](const InstructionView &v) {
            return views_of(v.tree, v.opcode_index() + 1, v.node().next);
        })
        .def("pattern", &pattern)
        .def_prop_ro("opcode_node", [](const InstructionView &v) {
            return make_view(v.tree, v.opcode_index());
        });
}

void bind_node_list(nb::module_ &m) {
    nb::class_<NodeListIterator>(m, "NodeListIterator")
        .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
        .def("__next__", [](NodeListIterator &it) {
            if (it.at >= it.list->indices.size()) throw nb::stop_iteration();
            return make_view(it.list->tree, it.list->indices[it.at++]);
        });
    nb::class_<NodeList>(m, "NodeList", "A sequence of nodes; views are made when asked for.")
        .def("__len__", [](const NodeList &list) { return list.indices.size(); })
        .def("__iter__", [](nb::handle self) {
            return NodeListIterator{nb::borrow(self), nb::inst_ptr<NodeList>(self), 0};
        })
        .def("__getitem__", [](const NodeList &list, Py_ssize_t at) {
            const auto size = static_cast<Py_ssize_t>(list.indices.size());
            if (at < 0) at += size;
            if (at < 0 || at >= size) throw nb::index_error("node list index out of range");
            return make_view(list.tree, list.indices[static_cast<std::size_t>(at)]);
        })
        .def("__getitem__", [](const NodeList &list, const nb::slice &slice) {
            auto [start, stop, step, length] = slice.compute(list.indices.size());
            (void)stop;
            NodeList part{list.tree, {}};
            for (std::size_t n = 0; n < length; ++n, start += step)
                part.indices.push_back(list.indices[static_cast<std::size_t>(start)]);
            return part;
        });
}

}  // namespace

void bind_syntax(nb::module_ &m) {
    bind_node(m);
    bind_node_list(m);
    nb::dict kinds;
    for (std::size_t kind = 0; kind < syntax::kKindCount; ++kind) {
        nb::str name(syntax::kKindNames[kind]);
        g_names[kind] = name.ptr();
        kinds[name] = syntax::kKindMeanings[kind];
    }
    m.attr("node_kinds") = kinds;
    m.def("parse", &parse, "text"_a, "filename"_a);
    m.def("register_kinds", [m](const nb::dict &classes) { register_kinds(m, classes); });
}

}  // namespace ptxkit
