/*
 * Values of C and of C++ that stand for each other: what generated wrappers make one of the other
 * by. Included by nearcall.hpp alone.
 */
#ifndef NEARCALL_VALUES_HPP
#define NEARCALL_VALUES_HPP

namespace nearcall {

/* A value that lies elsewhere, since its type holds its holder's: an optional of which no more than
 * a pointer is in the holder. It is copied as its value is, and destroyed: one in the other, so that
 * many thousands of levels take more stack than there may be. A member that is not `@optional`, and
 * a value of a map, must be there when they are sent. */
template <class T> class boxed {
  public:
    boxed() noexcept = default;
    template <class U, std::enable_if_t<std::is_same<std::decay_t<U>, T>::value, int> = 0>
    boxed(U &&value) : own_(std::make_unique<T>(std::forward<U>(value))) {}
    boxed(const boxed &other) : own_(other ? std::make_unique<T>(*other) : nullptr) {}
    boxed(boxed &&other) noexcept : own_(std::move(other.own_)) {}
    boxed &operator=(boxed other) noexcept {
        own_ = std::move(other.own_);
        return *this;
    }
    ~boxed() = default;

    /* Makes the value of these arguments, in place of the one before. */
    template <class... A> T &emplace(A &&...arguments) {
        own_ = std::make_unique<T>(std::forward<A>(arguments)...);
        return *own_;
    }
    void reset() noexcept { own_.reset(); }

    bool has_value() const noexcept { return own_ != nullptr; }
    explicit operator bool() const noexcept { return has_value(); }
    T &operator*() noexcept { return *own_; }
    const T &operator*() const noexcept { return *own_; }
    T *operator->() noexcept { return own_.get(); }
    const T *operator->() const noexcept { return own_.get(); }

  private:
    std::unique_ptr<T> own_;
};

/* Conversions: `nc_give` makes a value of C with memory of its own, `nc_take` reads one. What is
 * given lies so many levels deep, as C's writers count them: what they would refuse may be deeper
 * than there is stack for. */
namespace detail {

template <class T>
constexpr bool is_word = std::is_arithmetic<T>::value || std::is_enum<T>::value;

inline void *allocated(std::size_t bytes) {
    void *memory = nearcall_allocate_zeroed(bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

inline call_error unfit(const char *name, const std::string &words, reason which) {
    return call_error(NEARCALL_USAGE, std::string(name) + ": " + words, which);
}

/* C's text ends at a NUL. */
inline std::string why_no_text(std::size_t nul_at) {
    return "text has a NUL at byte " + std::to_string(nul_at);
}

inline void check_text(const char *name, const std::string &text) {
    const std::size_t nul_at = text.find('\0');
    if (nul_at != std::string::npos) {
        throw unfit(name, why_no_text(nul_at), reason::text);
    }
}

inline std::uint32_t count_of(std::size_t count) {
    if (count > std::numeric_limits<std::uint32_t>::max()) {
        throw call_error(NEARCALL_USAGE, "a sequence has more than 4294967295 elements",
                         reason::over_bound);
    }
    return static_cast<std::uint32_t>(count);
}

/* More levels than are written; of which value, `give_named` knows. */
struct too_deep {};

/* One level deeper, which is no deeper than is written. */
inline std::uint32_t deeper(std::uint32_t depth) {
    if (depth >= NEARCALL_DEPTH_MAX) {
        throw too_deep();
    }
    return depth + 1;
}

/* A union holds what its discriminator selects: alternative 0, which is nothing, for no case. */
template <class U> void check_case(const char *name, const U &value, std::size_t selected) {
    const std::size_t held = value._u.index();
    if (held != selected) {
        const auto discriminator = std::to_string(static_cast<std::int64_t>(value._d));
        throw call_error(NEARCALL_USAGE,
                         "the discriminator of " + std::string(name) + " is " + discriminator +
                             ", which selects alternative " + std::to_string(selected) +
                             ", and it holds alternative " + std::to_string(held),
                         reason::out_of_range);
    }
}

/* Of one text no more than so many bytes are said: a peer may have made it long. */
constexpr std::size_t said_bytes_max = 200;

/* What is said of a member comes behind this. */
inline std::string &say_member(words &words, const char *member) {
    words.text += words.has_members ? ", " : ": ";
    words.has_members = true;
    return words.text.append(member).append(" = ");
}

/* How many bytes of text are not said as they are, from this one on: of a control character, a
 * quotation mark, what escapes, and what ends a line in UTF-8. */
inline std::size_t escaped_bytes(unsigned char byte, unsigned char next, unsigned char after) {
    if (byte == 0xc2 && next < 0xa0) {
        return 2;
    }
    if (byte == 0xe2 && next == 0x80 && (after == 0xa8 || after == 0xa9)) {
        return 3;
    }
    return byte < 0x20 || byte == 0x7f || byte == '"' || byte == '\\' ? 1 : 0;
}

/* Text in one line, and cut between characters. */
inline void say_text(std::string &said, char quote, const char *text, std::size_t length) {
    std::size_t count = length < said_bytes_max ? length : said_bytes_max;
    const auto continues = [](char byte) { return (byte & 0xc0) == 0x80; };
    if (count < length) {
        for (int back = 0; back < 3 && continues(text[count]); back++) {
            count--;
        }
    }
    said += quote;
    const auto at = [=](std::size_t i) {
        return i < count ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(0);
    };
    std::size_t plain = 0;
    for (std::size_t i = 0; i < count; i++) {
        plain = std::max(plain, i + escaped_bytes(at(i), at(i + 1), at(i + 2)));
        if (i < plain) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned>(at(i)));
            said += escaped;
        } else {
            said += text[i];
        }
    }
    said += quote;
    if (count < length) {
        said += "...";
    }
}

inline void nc_say(words &words, const char *member, const std::string &value) {
    say_text(say_member(words, member), '"', value.data(), value.size());
}

template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
void nc_say(words &words, const char *member, T value) {
    std::string &said = say_member(words, member);
    if constexpr (std::is_same<T, bool>::value) {
        said += value ? "true" : "false";
    } else if constexpr (std::is_same<T, char>::value) {
        say_text(said, '\'', &value, 1);
    } else if constexpr (std::is_floating_point<T>::value) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%.*g", std::numeric_limits<T>::digits10,
                      static_cast<double>(value));
        said += digits;
    } else {
        said += std::to_string(value);
    }
}

/* By name; what no enumerator has, as a number. */
template <class T, std::enable_if_t<std::is_enum<T>::value, int> = 0>
void nc_say(words &words, const char *member, T value) {
    const char *name = nc_name(value);
    std::string &said = say_member(words, member);
    said += name != nullptr ? name : std::to_string(static_cast<std::int32_t>(value));
}

/* Nothing of what is not there. */
template <class T>
void nc_say(words &words, const char *member, const std::optional<T> &value) {
    if (value) {
        nc_say(words, member, *value);
    }
}

/* A sequence of C of what is where it is: its stubs do not write to it. */
template <class C> C in_place(bytes value) {
    C sequence;
    sequence._length = count_of(value.size());
    sequence._buffer = const_cast<std::uint8_t *>(value.data());
    return sequence;
}

template <class T, class C, std::enable_if_t<is_word<T>, int> = 0>
void nc_give(const T &value, C &target, std::uint32_t) {
    target = static_cast<C>(value);
}

inline void nc_give(const nearcall_long_double &value, nearcall_long_double &target,
                    std::uint32_t) {
    target = value;
}

inline void nc_give(const std::string &value, char *&target, std::uint32_t) {
    const std::size_t nul_at = value.find('\0');
    if (nul_at != std::string::npos) {
        throw call_error(NEARCALL_USAGE, why_no_text(nul_at), reason::text);
    }
    target = nearcall_copy_text(value.c_str());
    if (target == nullptr) {
        throw std::bad_alloc();
    }
}

template <class T, std::size_t N, class C>
void nc_give(const std::array<T, N> &value, C &target, std::uint32_t depth);
template <class T, class C>
void nc_give(const std::vector<T> &value, C &target, std::uint32_t depth);
template <class K, class V, class C>
void nc_give(const std::map<K, V> &value, C &target, std::uint32_t depth);
template <class T, class C>
void nc_give(const std::optional<T> &value, C *&target, std::uint32_t depth);
template <class T, class C> void nc_give(const boxed<T> &value, C &target, std::uint32_t depth);

template <class T, std::size_t N, class C>
void give_items(const std::array<T, N> &value, C (&target)[N], std::uint32_t depth) {
    for (std::size_t i = 0; i < N; i++) {
        if constexpr (std::is_array<C>::value) {
            give_items(value[i], target[i], depth);
        } else {
            nc_give(value[i], target[i], depth);
        }
    }
}

template <class T, std::size_t N, class C>
void nc_give(const std::array<T, N> &value, C &target, std::uint32_t depth) {
    give_items(value, target._at, depth);
}

template <class T, class C>
void nc_give(const std::vector<T> &value, C &target, std::uint32_t depth) {
    const std::uint32_t inner = deeper(depth);
    using item = std::remove_pointer_t<decltype(target._buffer)>;
    const std::uint32_t count = count_of(value.size());
    target._buffer = static_cast<item *>(allocated(count * sizeof(item)));
    for (const auto &one : value) {
        /* Of a vector of bool there are no elements to refer to. */
        const T &element = one;
        nc_give(element, target._buffer[target._length++], inner);
    }
}

template <class K, class V, class C>
void nc_give(const std::map<K, V> &value, C &target, std::uint32_t depth) {
    const std::uint32_t inner = deeper(depth);
    using item = std::remove_pointer_t<decltype(target._buffer)>;
    const std::uint32_t count = count_of(value.size());
    target._buffer = static_cast<item *>(allocated(count * sizeof(item)));
    for (const auto &one : value) {
        item &pair = target._buffer[target._length++];
        nc_give(one.first, pair.key, inner);
        nc_give(one.second, pair.value, inner);
    }
}

template <class T, class C>
void nc_give(const std::optional<T> &value, C *&target, std::uint32_t depth) {
    if (value) {
        const std::uint32_t inner = deeper(depth);
        target = static_cast<C *>(allocated(sizeof(C)));
        nc_give(*value, *target, inner);
    }
}

/* A map holds a box without a value; which map that is, who gives its member knows. */
struct empty_box {};

/* A member with such a map somewhere. */
template <class T, class C>
void give_boxes(const char *name, const T &value, C &target, std::uint32_t depth) {
    try {
        nc_give(value, target, depth);
    } catch (const empty_box &) {
        throw call_error(NEARCALL_USAGE,
                         "a value of " + std::string(name) + " is 0, allowed is one that is there",
                         reason::out_of_range);
    }
}

/* A member is a pointer in C, and a value of a map is none. */
template <class T, class C> void nc_give(const boxed<T> &value, C &target, std::uint32_t depth) {
    if constexpr (std::is_pointer<C>::value) {
        if (value) {
            const std::uint32_t inner = deeper(depth);
            target = static_cast<C>(allocated(sizeof *target));
            nc_give(*value, *target, inner);
        }
    } else if (value) {
        nc_give(*value, target, depth);
    } else {
        throw empty_box();
    }
}

/* A parameter, a result or an item: what does not fit is refused by its name. */
template <class T, class C>
void give_named(const char *name, const T &value, C &target, std::uint32_t depth) {
    try {
        nc_give(value, target, depth);
    } catch (const too_deep &) {
        throw call_error(NEARCALL_USAGE,
                         std::string(name) + " is " + std::to_string(NEARCALL_DEPTH_MAX + 1) +
                             " levels deep, allowed is 0 to " + std::to_string(NEARCALL_DEPTH_MAX),
                         reason::out_of_range);
    } catch (const call_error &error) {
        throw unfit(name, error.what(), error.reason());
    }
}

template <class T, class C, std::enable_if_t<is_word<T>, int> = 0>
void nc_take(const C &value, T &target) {
    target = static_cast<T>(value);
}

inline void nc_take(const nearcall_long_double &value, nearcall_long_double &target) {
    target = value;
}

inline void nc_take(const char *value, std::string &target) { target = value == nullptr ? "" : value; }

template <class C, class T, std::size_t N> void nc_take(const C &value, std::array<T, N> &target);
template <class C, class T> void nc_take(const C &value, std::vector<T> &target);
template <class C, class K, class V> void nc_take(const C &value, std::map<K, V> &target);
template <class C, class T> void nc_take(const C *value, std::optional<T> &target);
template <class C, class T> void nc_take(const C &value, boxed<T> &target);

template <class C, class T, std::size_t N>
void take_items(const C (&value)[N], std::array<T, N> &target) {
    for (std::size_t i = 0; i < N; i++) {
        if constexpr (std::is_array<C>::value) {
            take_items(value[i], target[i]);
        } else {
            nc_take(value[i], target[i]);
        }
    }
}

template <class C, class T, std::size_t N> void nc_take(const C &value, std::array<T, N> &target) {
    take_items(value._at, target);
}

template <class C, class T> void nc_take(const C &value, std::vector<T> &target) {
    using item = std::remove_pointer_t<decltype(value._buffer)>;
    if constexpr (std::is_same<item, T>::value && is_word<T>) {
        target.assign(value._buffer, value._buffer + value._length);
    } else if constexpr (is_word<T>) {
        target.clear();
        target.reserve(value._length);
        for (std::uint32_t i = 0; i < value._length; i++) {
            target.push_back(static_cast<T>(value._buffer[i]));
        }
    } else {
        target.resize(value._length);
        for (std::uint32_t i = 0; i < value._length; i++) {
            nc_take(value._buffer[i], target[i]);
        }
    }
}

template <class C, class K, class V> void nc_take(const C &value, std::map<K, V> &target) {
    target.clear();
    for (std::uint32_t i = 0; i < value._length; i++) {
        K key{};
        nc_take(value._buffer[i].key, key);
        nc_take(value._buffer[i].value, target[std::move(key)]);
    }
}

template <class C, class T> void nc_take(const C *value, std::optional<T> &target) {
    if (value == nullptr) {
        target.reset();
    } else {
        nc_take(*value, target ? *target : target.emplace());
    }
}

template <class C, class T> void nc_take(const C &value, boxed<T> &target) {
    const auto whole = [&target]() -> T & { return target ? *target : target.emplace(); };
    if constexpr (!std::is_pointer<C>::value) {
        nc_take(value, whole());
    } else if (value == nullptr) {
        target.reset();
    } else {
        nc_take(*value, whole());
    }
}

/* Alternative N of a union, which it has from here on. */
template <std::size_t N, class V> auto &alternative(V &target) {
    return target.index() == N ? std::get<N>(target) : target.template emplace<N>();
}

/* A vector or a string that a result comes to: as long as the result, of which it has no more to
 * copy. */
template <class C, class T> C prealloc(T &target) {
    using item = typename T::value_type;
    using other = std::remove_pointer_t<decltype(C::_buffer)>;
    static_assert(sizeof(item) == sizeof(other) && alignof(item) == alignof(other) &&
                      std::is_trivially_copyable<item>::value &&
                      std::is_standard_layout<item>::value,
                  "elements lie in memory as they do in C");
    C all{};
    all._own = &target;
    all._grow = [](void *own, std::uint32_t count) noexcept -> void * {
        T &known = *static_cast<T *>(own);
        try {
            known.resize(count);
        } catch (...) {
            return nullptr;
        }
        return known.data();
    };
    return all;
}

/* How much memory a value holds beside itself; generated for structs and unions. */
template <class T, std::enable_if_t<is_word<T>, int> = 0> std::size_t nc_held_bytes(const T &) {
    return 0;
}

inline std::size_t nc_held_bytes(const nearcall_long_double &) { return 0; }
inline std::size_t nc_held_bytes(std::monostate) { return 0; }
inline std::size_t nc_held_bytes(const std::string &value) { return value.capacity(); }

template <class T, std::size_t N> std::size_t nc_held_bytes(const std::array<T, N> &value);
template <class T> std::size_t nc_held_bytes(const std::vector<T> &value);
template <class K, class V> std::size_t nc_held_bytes(const std::map<K, V> &value);
template <class T> std::size_t nc_held_bytes(const std::optional<T> &value);
template <class T> std::size_t nc_held_bytes(const boxed<T> &value);

template <class T, std::size_t N> std::size_t nc_held_bytes(const std::array<T, N> &value) {
    std::size_t bytes = 0;
    if constexpr (!is_word<T>) {
        for (const T &one : value) {
            bytes += nc_held_bytes(one);
        }
    }
    return bytes;
}

template <class T> std::size_t nc_held_bytes(const std::vector<T> &value) {
    std::size_t bytes = value.capacity() * sizeof(T);
    if constexpr (!is_word<T>) {
        for (const T &one : value) {
            bytes += nc_held_bytes(one);
        }
    }
    return bytes;
}

template <class K, class V> std::size_t nc_held_bytes(const std::map<K, V> &value) {
    std::size_t bytes = 0;
    for (const auto &one : value) {
        bytes += sizeof one + nc_held_bytes(one.first) + nc_held_bytes(one.second);
    }
    return bytes;
}

template <class T> std::size_t nc_held_bytes(const std::optional<T> &value) {
    return value ? nc_held_bytes(*value) : 0;
}

template <class T> std::size_t nc_held_bytes(const boxed<T> &value) {
    return value ? sizeof(T) + nc_held_bytes(*value) : 0;
}

/* What a procedure only reads: it is kept for the next call that has such an argument, whose value
 * takes the place of the old one. A call that waits has it for as long. */
template <class T> class kept {
  public:
    kept() {
        for (auto &one : all_) {
            if (one.load(std::memory_order_relaxed) != nullptr) {
                own_.reset(one.exchange(nullptr, std::memory_order_acquire));
                if (own_) {
                    return;
                }
            }
        }
        own_ = std::make_unique<T>();
    }
    kept(const kept &) = delete;
    kept &operator=(const kept &) = delete;
    ~kept() {
        if (nc_held_bytes(*own_) > bytes_max) {
            return;
        }
        for (auto &one : all_) {
            T *none = nullptr;
            if (one.compare_exchange_strong(none, own_.get(), std::memory_order_release,
                                            std::memory_order_relaxed)) {
                own_.release();
                return;
            }
        }
    }
    T &operator*() { return *own_; }

  private:
    /* Of each type the program keeps no more values, none of which holds more. */
    static constexpr std::size_t count_max = 16;
    static constexpr std::size_t bytes_max = std::size_t{1} << 20;

    inline static std::array<std::atomic<T *>, count_max> all_{};

    std::unique_ptr<T> own_;
};

/* A value of C, and what gives back what it holds. All bytes are zero until it is given a value: of
 * a union, `{}` would leave those behind its first member as they are. It is assigned through a
 * reference: to g++ a call whose result is put into a member in place might throw, and leave it
 * without a value for the destructor, of which it then warns. */
template <class C, class F> struct held {
    C own;
    C &value = own;
    F free;
    explicit held(F freed) : free(freed) { std::memset(&own, 0, sizeof own); }
    held(const held &) = delete;
    held &operator=(const held &) = delete;
    ~held() { free(value); }
    /* What it holds is somebody else's from here on. */
    C moved() {
        C away = value;
        std::memset(&value, 0, sizeof value);
        return away;
    }
};

} // namespace detail
} // namespace nearcall

#endif
