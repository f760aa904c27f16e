// LIBLINEAR's training from the user's chair: reads LIBSVM text, trains, saves.
//
//     liblinear_train FILE [SOLVER C EPSILON THREADS MODEL]
//
// The Python packages of LIBLINEAR hold the library without its programs, so this stands in for `train`, compiled with
// the package's own sources. It reads as the programs of LIBSVM and LIBLINEAR do: once over the file to count the
// values, once more to parse them, line by line with the C library's strtok, strtol and strtod, into an array of
// (index, value) that a row ends with index −1. Without a solver it reads and no more. Prints one JSON object.

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "linear.h"

namespace {

[[noreturn]] void fail(const char *what, long line) {
    std::fprintf(stderr, "line %ld: %s\n", line, what);
    std::exit(2);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A text file, line by line, in a buffer that grows to the longest line.
class Lines {
  public:
    explicit Lines(const char *path) : file_(std::fopen(path, "r")), buffer_(1024) {
        if (file_ == nullptr) {
            std::perror(path);
            std::exit(2);
        }
    }
    ~Lines() { std::fclose(file_); }

    // The next line, or a null pointer at the end.
    char *next() {
        if (std::fgets(buffer_.data(), static_cast<int>(buffer_.size()), file_) == nullptr) return nullptr;
        while (std::strchr(buffer_.data(), '\n') == nullptr) {
            const size_t length = std::strlen(buffer_.data());
            buffer_.resize(2 * buffer_.size());
            if (std::fgets(buffer_.data() + length, static_cast<int>(buffer_.size() - length), file_) == nullptr) break;
        }
        return buffer_.data();
    }
    void rewind() { std::rewind(file_); }

  private:
    std::FILE *file_;
    std::vector<char> buffer_;
};

// The rows of a file; `problem` points into it.
struct Rows {
    std::vector<double> labels;
    std::vector<feature_node> nodes;
    std::vector<feature_node *> starts;
    int columns = 0;
};

void count(Lines &lines, Rows &rows) {
    size_t values = 0, count = 0;
    while (char *line = lines.next()) {
        std::strtok(line, " \t");
        while (char *word = std::strtok(nullptr, " \t")) {
            if (*word == '\n') break;
            ++values;
        }
        ++count;
    }
    rows.labels.resize(count);
    rows.starts.resize(count);
    rows.nodes.resize(values + count);
}

void parse(Lines &lines, Rows &rows) {
    feature_node *node = rows.nodes.data();
    for (size_t row = 0; row < rows.labels.size(); ++row) {
        const long number = static_cast<long>(row) + 1;
        char *line = lines.next();
        char *word = line == nullptr ? nullptr : std::strtok(line, " \t\n");
        if (word == nullptr) fail("there is no label", number);
        char *end = nullptr;
        rows.starts[row] = node;
        rows.labels[row] = std::strtod(word, &end);
        if (end == word || *end != '\0') fail("the label is not a number", number);
        int last = 0;
        while (true) {
            const char *index = std::strtok(nullptr, ":");
            char *value = std::strtok(nullptr, " \t");
            if (value == nullptr) break;
            errno = 0;
            node->index = static_cast<int>(std::strtol(index, &end, 10));
            if (end == index || errno != 0 || *end != '\0' || node->index <= last) fail("not an ascending index", number);
            last = node->index;
            errno = 0;
            node->value = std::strtod(value, &end);
            if (end == value || errno != 0 || (*end != '\0' && *end != '\n')) fail("the value is not a number", number);
            ++node;
        }
        if (last > rows.columns) rows.columns = last;
        node->index = -1;
        ++node;
    }
}

}  // namespace

int main(int count_of_arguments, char **arguments) {
    if (count_of_arguments != 2 && count_of_arguments != 7) {
        std::fprintf(stderr, "usage: liblinear_train FILE [SOLVER C EPSILON THREADS MODEL]\n");
        return 2;
    }
    auto start = std::chrono::steady_clock::now();
    Rows rows;
    {
        Lines lines(arguments[1]);
        count(lines, rows);
        lines.rewind();
        parse(lines, rows);
    }
    const double read = seconds_since(start);
    std::printf("{\"rows\": %zu, \"values\": %zu, \"read_seconds\": %.9f", rows.labels.size(),
                rows.nodes.size() - rows.labels.size(), read);
    if (count_of_arguments == 7) {
        problem data{};
        data.l = static_cast<int>(rows.labels.size());
        data.n = rows.columns;
        data.y = rows.labels.data();
        data.x = rows.starts.data();
        data.bias = -1.0;
        parameter asked{};
        asked.solver_type = std::atoi(arguments[2]);
        asked.C = std::atof(arguments[3]);
        asked.eps = std::atof(arguments[4]);
#ifdef MULTICORE
        asked.nr_thread = std::atoi(arguments[5]);
#endif
        asked.p = 0.1;
        asked.nu = 0.5;
        asked.regularize_bias = 1;
        set_print_string_function([](const char *) {});
        if (const char *wrong = check_parameter(&data, &asked)) fail(wrong, 0);
        start = std::chrono::steady_clock::now();
        model *trained = train(&data, &asked);
        std::printf(", \"fit_seconds\": %.9f", seconds_since(start));
        if (save_model(arguments[6], trained) != 0) fail("the model cannot be saved", 0);
        free_and_destroy_model(&trained);
    }
    std::printf("}\n");
    return 0;
}
