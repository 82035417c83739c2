#include <algorithm>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace selftest {

/* A longer text is compared by its beginning, its length and its hash. */
constexpr std::size_t SHOWN_BYTES_MAX = 300;
/* How much of a longer text there is to see. */
constexpr std::size_t BEGINNING_BYTES = 100;
/* How long the server waits for calls that were posted and not awaited. */
constexpr std::chrono::seconds PATIENCE{10};

inline std::string formatted(const char *format, std::uint64_t word) {
    char bytes[32];
    std::snprintf(bytes, sizeof bytes, format, word);
    return bytes;
}

inline std::string shortened(const std::string &text) {
    if (text.size() <= SHOWN_BYTES_MAX) {
        return text;
    }
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char letter : text) {
        hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
    }
    return text.substr(0, BEGINNING_BYTES) + "... " + std::to_string(text.size()) +
           " bytes, hash " + formatted("%016" PRIx64, hash);
}

/* Waits until whoever started it closes its standard input. */
inline void rest() {
    while (std::getchar() != EOF) {
    }
}

/* What was called, and what differed. */
class check {
  public:
    explicit check(const char *side) : side_(side) {}

    /* Counts a call of an operation; which of its rounds it is. */
    unsigned round(std::size_t operation, unsigned rounds) {
        return calls_[operation].fetch_add(1) % rounds;
    }

    /* Compares a text with what it should be. */
    void same(const char *place, unsigned round, const char *what, const std::string &text,
              const std::string &wanted) {
        const std::string got = shortened(text);
        values_++;
        if (got != wanted) {
            differences_++;
            std::fprintf(stderr, "%s of %s, round %u: %s is\n  %s\nand should be\n  %s\n", side_,
                         place, round, what, got.c_str(), wanted.c_str());
        }
    }

    /* Waits until so many calls were taken, or for so long that they will not be. */
    void wait(unsigned wanted) const {
        const auto end = std::chrono::steady_clock::now() + PATIENCE;
        while (call_count() < wanted && std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

    /* Says what was counted; 0 only if there were as many calls as there should be, and no
     * difference. A client stays until its standard input ends: a call that is not awaited goes
     * with its client. */
    int end(unsigned wanted) const {
        const unsigned calls = call_count();
        const unsigned values = values_;
        const unsigned differences = differences_;
        std::printf("%s: %u of %u calls, %u values, %u differ\n", side_, calls, wanted, values,
                    differences);
        std::fflush(stdout);
        rest();
        return calls == wanted && calls > 0 && differences == 0 ? 0 : 1;
    }

  private:
    unsigned call_count() const {
        unsigned count = 0;
        for (const auto &one : calls_) {
            count += one;
        }
        return count;
    }

    const char *side_;
    std::array<std::atomic<unsigned>, OPERATIONS> calls_{};
    std::atomic<unsigned> values_{0};
    std::atomic<unsigned> differences_{0};
};

/* A part so many times. */
inline std::string repeated(const std::string &part, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; i++) {
        text += part;
    }
    return text;
}

inline float float_of(std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline double double_of(std::uint64_t bits) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline nearcall_long_double long_double_of(std::uint64_t low, std::uint64_t high) {
    nearcall_long_double value;
    std::memcpy(value.bytes, &low, sizeof low);
    std::memcpy(value.bytes + sizeof low, &high, sizeof high);
    return value;
}

/* Values as text, the same in every language. All are declared first: each may hold each. */
template <class T, std::enable_if_t<::nearcall::detail::is_word<T>, int> = 0>
void show(std::string &text, const T &value);
inline void show(std::string &text, const nearcall_long_double &value);
inline void show(std::string &text, const std::string &value);
template <class T> void show(std::string &text, const std::vector<T> &value);
template <class T, std::size_t N> void show(std::string &text, const std::array<T, N> &value);
template <class K, class V> void show(std::string &text, const std::map<K, V> &value);
template <class T> void show(std::string &text, const std::optional<T> &value);
template <class T> void show(std::string &text, const nearcall::boxed<T> &value);

template <class T> std::string shown(const T &value) {
    std::string text;
    show(text, value);
    return text;
}

template <class T, std::enable_if_t<::nearcall::detail::is_word<T>, int>>
void show(std::string &text, const T &value) {
    if constexpr (std::is_same<T, bool>::value) {
        text += value ? "true" : "false";
    } else if constexpr (std::is_same<T, char>::value) {
        text += std::to_string(static_cast<unsigned char>(value));
    } else if constexpr (std::is_same<T, float>::value) {
        std::uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        text += formatted("0x%08" PRIx64, bits);
    } else if constexpr (std::is_same<T, double>::value) {
        std::uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        text += formatted("0x%016" PRIx64, bits);
    } else if constexpr (std::is_enum<T>::value) {
        text += std::to_string(static_cast<long long>(value));
    } else {
        text += std::to_string(value);
    }
}

inline void show(std::string &text, const nearcall_long_double &value) {
    text += "0x";
    for (const unsigned byte : value.bytes) {
        text += formatted("%02" PRIx64, byte);
    }
}

inline void show(std::string &text, const std::string &value) {
    text += '"';
    for (const char letter : value) {
        const auto byte = static_cast<unsigned char>(letter);
        if (byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\') {
            text += letter;
        } else {
            text += formatted("\\%02" PRIx64, byte);
        }
    }
    text += '"';
}

template <class C> void show_items(std::string &text, const C &value) {
    bool is_first = true;
    text += '[';
    for (const auto &one : value) {
        text += is_first ? "" : ", ";
        show(text, static_cast<typename C::value_type>(one));
        is_first = false;
    }
    text += ']';
}

template <class T> void show(std::string &text, const std::vector<T> &value) {
    show_items(text, value);
}

template <class T, std::size_t N> void show(std::string &text, const std::array<T, N> &value) {
    show_items(text, value);
}

template <class K, class V> void show(std::string &text, const std::map<K, V> &value) {
    std::vector<std::string> all;
    for (const auto &one : value) {
        all.push_back(shown(one.first) + ": " + shown(one.second));
    }
    /* Maps have other orders in other languages. */
    std::sort(all.begin(), all.end());
    text += '{';
    for (std::size_t i = 0; i < all.size(); i++) {
        text += (i == 0 ? "" : ", ") + all[i];
    }
    text += '}';
}

template <class T> void show_if_there(std::string &text, const T &value) {
    if (value) {
        show(text, *value);
    } else {
        text += "none";
    }
}

template <class T> void show(std::string &text, const std::optional<T> &value) {
    show_if_there(text, value);
}

template <class T> void show(std::string &text, const nearcall::boxed<T> &value) {
    show_if_there(text, value);
}

/* What a map holds, in a box or not. */
template <class T> T &whole(T &value) { return value; }
template <class T> T &whole(nearcall::boxed<T> &value) { return *value; }

} // namespace selftest
