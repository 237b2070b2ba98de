// A fuzzing driver for compilers without libFuzzer: seeds, changed at random, again and
// again until the time is over. No coverage feedback, so it finds less in the same time.
//
//     standalone --seconds N --dictionary FILE --findings FOLDER SEED-FOLDER...
//     standalone FILE...         (each file once, to look at a finding)
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cctype>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "invariants.hpp"
#include "mutate.hpp"

extern "C" void __sanitizer_set_death_callback(void (*callback)());

namespace {

using Texts = std::vector<std::string>;
constexpr std::size_t kLargestInput = 8192;

std::string g_current;  // what is being tested, for the report
std::string g_findings;

std::string read(const std::filesystem::path &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The process is about to die: keep the input that killed it.
void keep_input() {
    if (g_findings.empty()) return;
    const std::size_t name = std::hash<std::string>()(g_current);
    const std::string path = g_findings + "/crash-" + std::to_string(name);
    std::ofstream(path, std::ios::binary) << g_current;
    std::fprintf(stderr, "the input is kept in %s\n", path.c_str());
}

void on_signal(int) {
    keep_input();
    std::_Exit(77);
}

void run(const std::string &text) {
    g_current = text;
    alarm(10);  // an input that takes longer than this is a finding too
    ptxkit::fuzz::check_all(text);
    alarm(0);
}

// The words of a dictionary in libFuzzer's form: "text" with \" and \xAB.
Texts read_dictionary(const std::string &path) {
    Texts words;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.size() < 2 || line.front() != '"') continue;
        std::string word;
        for (std::size_t at = 1; at + 1 < line.size(); ++at) {
            if (line[at] != '\\') {
                word += line[at];
            } else if (line[at + 1] == 'x') {
                word += static_cast<char>(std::stoi(line.substr(at + 2, 2), nullptr, 16));
                at += 3;
            } else {
                word += line[++at];
            }
        }
        words.push_back(word);
    }
    return words;
}

class Mutator {
  public:
    Mutator(Texts pool, Texts words) : pool_(std::move(pool)), words_(std::move(words)) {}

    std::string next() {
        std::string text = one_of(pool_);
        for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
            if (below(2) == 0) ptxkit::fuzz::mutate_tokens(text, random_);
            else change(text);
        }
        if (text.size() > kLargestInput) text.resize(kLargestInput);
        return text;
    }

  private:
    std::size_t below(std::size_t limit) { return limit < 2 ? 0 : random_() % limit; }
    const std::string &one_of(const Texts &texts) { return texts[below(texts.size())]; }

    // A place between two tokens, or any place now and then.
    std::size_t place(const std::string &text) {
        std::size_t at = below(text.size() + 1);
        if (below(4) == 0) return at;
        while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0)) ++at;
        return at;
    }

    void change(std::string &text) {
        const std::size_t from = place(text);
        const std::size_t length = below(1 + std::min<std::size_t>(text.size() - from, 24));
        switch (below(8)) {
            case 0: text.erase(from, length); break;
            case 1: text.insert(from, one_of(words_)); break;
            case 2: text.replace(from, length, one_of(words_)); break;
            case 3: text.insert(place(text), text.substr(from, length)); break;
            case 4: {
                const std::string &other = one_of(pool_);
                const std::size_t at = place(other);
                text.insert(from, other, at, below(200));
                break;
            }
            case 5:
                if (from < text.size()) text[from] = static_cast<char>(random_());
                break;
            case 6: text.resize(from); break;
            default: {
                const std::string piece = text.substr(from, length);
                text.erase(from, length);
                text.insert(place(text), piece);
            }
        }
    }

    Texts pool_;
    Texts words_;
    std::mt19937_64 random_{20240229};
};

Texts read_folder(const std::string &folder) {
    Texts texts;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.is_regular_file()) texts.push_back(read(entry.path()));
    return texts;
}

}  // namespace

int main(int count, char **arguments) {
    double seconds = 0;
    std::string dictionary;
    Texts pool;
    for (int at = 1; at < count; ++at) {
        const std::string argument = arguments[at];
        const bool has_value = at + 1 < count;
        if (argument == "--seconds" && has_value) {
            seconds = std::atof(arguments[++at]);
        } else if (argument == "--dictionary" && has_value) {
            dictionary = arguments[++at];
        } else if (argument == "--findings" && has_value) {
            g_findings = arguments[++at];
        } else if (std::filesystem::is_directory(argument)) {
            for (std::string &text : read_folder(argument)) pool.push_back(std::move(text));
        } else {
            pool.push_back(read(argument));
        }
    }
    if (pool.empty()) return std::fprintf(stderr, "no seeds\n"), 2;
    __sanitizer_set_death_callback(keep_input);
    std::signal(SIGABRT, on_signal);
    std::signal(SIGALRM, on_signal);
    for (const std::string &text : pool) run(text);
    Texts words = read_dictionary(dictionary);
    if (words.empty()) words.push_back(";");
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    std::size_t runs = 0;
    Mutator mutator(pool, words);
    for (; elapsed() < seconds; ++runs) run(mutator.next());
    std::printf("%zu seeds and %zu mutations, nothing found\n", pool.size(), runs);
    return 0;
}
