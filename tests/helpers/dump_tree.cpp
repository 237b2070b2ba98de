// Prints the tree of each file named on the command line, for an independent check:
// its name, the number of diagnostics, whether emit() gives the text back, then a node a
// line: kind start end parent next flags selector.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "syntax/parser.hpp"

int main(int count, char **arguments) {
    using namespace ptxkit::syntax;
    for (int at = 1; at < count; ++at) {
        std::ifstream file(arguments[at], std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        const auto tree = parse(text, arguments[at]);
        std::cout << "file " << arguments[at] << ' ' << tree->diagnostics().size() << ' '
                  << (tree->emit() == text) << '\n';
        for (const Node &node : tree->nodes())
            std::cout << kKindNames[static_cast<std::size_t>(node.kind)] << ' ' << node.start << ' '
                      << node.end << ' ' << static_cast<std::int32_t>(node.parent) << ' '
                      << node.next << ' ' << unsigned{node.flags} << ' ' << node.selector << '\n';
    }
}
