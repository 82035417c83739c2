/*
 * Calls that have two halves: those of a client that are posted and collected, with what tells an
 * event loop of their replies, and those that a server has set aside. Included by nearcall.hpp
 * alone.
 */
#ifndef NEARCALL_CALLS_HPP
#define NEARCALL_CALLS_HPP

namespace nearcall {

/* A call that was posted, and evaluates to a `T`: what is returned, then inout and out parameters, a
 * tuple if there are several. Any thread may collect it, once, while its client is there. When this
 * goes before, what the call brings is dropped, and nobody waits for it. */
template <class T> class pending {
  public:
    /* For generated code: to be posted, into its record. */
    explicit pending(T (*collected)(nearcall_posted *)) : collect_(collected) {
        (::new (record_) nearcall_posted)->state = NEARCALL_NOT_POSTED;
    }
    pending(pending &&other) noexcept { take(other); }
    pending &operator=(pending &&other) noexcept {
        if (this != &other) {
            nearcall_posted_drop(call());
            take(other);
        }
        return *this;
    }
    pending(const pending &) = delete;
    pending &operator=(const pending &) = delete;
    ~pending() {
        if (call()->state != NEARCALL_NOT_POSTED) {
            nearcall_posted_drop(call());
        }
    }

    /* To collect it will not wait. */
    bool is_replied() const { return nearcall_posted_is_replied(call()); }
    /* Waits for the reply. Throws what the call does; call_error if it was collected before. */
    T collect() { return collect_(call()); }
    /* Gives it up, and lets the server see that: it is not run if it was not begun. */
    void cancel() { nearcall_posted_cancel(call()); }

    /* For generated code: the record of the operation, which a post is about to write. It is posted
     * and collected where it lies: a copy that is made right after a post waits for its stores. */
    template <class R> R *record() {
        static_assert(sizeof(R) == sizeof(nearcall_posted), "its one member is the call");
        R *const own = ::new (record_) R;
        call()->state = NEARCALL_NOT_POSTED;
        return own;
    }

  private:
    friend class completions;

    nearcall_posted *call() {
        return std::launder(reinterpret_cast<nearcall_posted *>(record_));
    }
    const nearcall_posted *call() const {
        return std::launder(reinterpret_cast<const nearcall_posted *>(record_));
    }
    void take(pending &other) {
        std::memcpy(record_, other.record_, sizeof record_);
        collect_ = other.collect_;
        other.call()->state = NEARCALL_NOT_POSTED;
    }

    alignas(nearcall_posted) unsigned char record_[sizeof(nearcall_posted)];
    T (*collect_)(nearcall_posted *);
};

/* Posted calls that an event loop waits for: it waits until `fd` can be read, beside whatever else it
 * waits for, and then has `run` tell of those whose replies are there. One thread's at a time, but
 * for `fd`. When this goes before, its calls are given up. Clients outlast their calls here, and
 * this outlasts the coroutines that await them, and `run`. */
class completions {
  public:
    /* Which of the calls it is; never that of another one. */
    using number = std::uintptr_t;

    /* Throws call_error: there is no room for a descriptor. */
    completions() {
        nearcall_environment env;
        own_ = nearcall_completions_new(&env);
        if (own_ == nullptr) {
            throw call_error(env);
        }
    }
    completions(const completions &) = delete;
    completions &operator=(const completions &) = delete;
    ~completions() {
        nearcall_completions_release(std::exchange(own_, nullptr));
        /* What is told may have more in it that cancels, or ends coroutines. */
        while (!all_.empty()) {
            all_.extract(all_.begin());
        }
    }

    /* Can be read as long as `run` has something to look at (level-triggered); for poll(2), epoll, or
     * any event loop. */
    int fd() const { return nearcall_completions_fd(own_); }
    /* How many are here that were not told. */
    std::size_t size() const { return all_.size(); }

    /* Takes a call over; `told` is called by `run` as `told(nearcall::pending<T>)` once to collect
     * that does not wait, be it for an error. Throws call_error if it is not posted. */
    template <class T, class F> number add(pending<T> &&call, F told) {
        const number id = ++last_;
        auto own = std::make_unique<listed_call<T, F>>(std::move(call), std::move(told));
        auto *const posted = own->call();
        all_.emplace(id, std::move(own));
        nearcall_environment env;
        if (!nearcall_completions_add(own_, posted, reinterpret_cast<void *>(id), &env)) {
            all_.erase(id);
            throw call_error(env);
        }
        return id;
    }

    /* Tells of calls whose replies are there, and returns of how many: of no more than were here,
     * so that calls which are posted meanwhile do not keep other descriptors waiting. It looks for
     * as long as calls spin, and never sleeps. What `told` throws comes out; later calls of this
     * tell of the rest. */
    std::size_t run() {
        const std::size_t most = all_.size();
        std::size_t count = 0;
        nearcall_posted posted;
        void *tag = nullptr;
        /* With none left it finds none, and `fd` cannot be read any more. */
        while ((count < most || all_.empty()) &&
               nearcall_completions_next(own_, &posted, &tag)) {
            auto node = all_.extract(reinterpret_cast<number>(tag));
            *node.mapped()->call() = posted;
            count++;
            node.mapped()->tell();
        }
        return count;
    }

    /* Gives a call up, and lets its server see it; `told` is not called. False: it was told. */
    bool cancel(number call) {
        /* It goes last: what it holds may cancel more. */
        const auto own = all_.extract(call);
        if (own && own_ != nullptr) {
            nearcall_completions_cancel(own_, reinterpret_cast<void *>(call));
        }
        return !own.empty();
    }

#if defined(__cpp_impl_coroutine)
    /* `co_await completions.reply(posting(client).f(…))` evaluates to what the call does; the
     * coroutine goes on in `run`. One that is destroyed meanwhile gives its call up. */
    template <class T> class awaited {
      public:
        awaited(completions &own, pending<T> &&call) : own_(own), call_(std::move(call)) {}
        awaited(const awaited &) = delete;
        awaited &operator=(const awaited &) = delete;
        ~awaited() {
            if (number_ != 0) {
                own_.cancel(number_);
            }
        }

        bool await_ready() const { return call_.is_replied(); }
        void await_suspend(std::coroutine_handle<> waiting) {
            number_ = own_.add(std::move(call_), [this, waiting](pending<T> replied) {
                call_ = std::move(replied);
                number_ = 0;
                waiting.resume();
            });
        }
        T await_resume() { return call_.collect(); }

      private:
        completions &own_;
        pending<T> call_;
        number number_ = 0;
    };

    template <class T> awaited<T> reply(pending<T> &&call) { return {*this, std::move(call)}; }
#endif

  private:
    class listed {
      public:
        virtual ~listed() = default;
        virtual nearcall_posted *call() = 0;
        virtual void tell() = 0;
    };

    template <class T, class F> class listed_call final : public listed {
      public:
        listed_call(pending<T> &&call, F &&told)
            : call_(std::move(call)), told_(std::move(told)) {}
        nearcall_posted *call() override { return call_.call(); }
        void tell() override { told_(std::move(call_)); }

      private:
        pending<T> call_;
        F told_;
    };

    nearcall_completions *own_;
    std::map<number, std::unique_ptr<listed>> all_;
    number last_ = 0;
};

/* A call that a server has set aside: whoever has this replies with results, which are what is
 * returned, then inout and out parameters, or raises, once, on any thread. When it goes before, its
 * client is told NEARCALL_PANICKED. Of one that was replied to, or was moved, these do nothing. */
template <class... T> class answer {
  public:
    answer(nearcall_deferred *call, void (*reply)(nearcall_deferred *, T &...),
           void (*raised)(nearcall_deferred *, const std::exception_ptr &))
        : call_(call), reply_(reply), raise_(raised) {}
    answer(answer &&other) noexcept
        : call_(other.moved()), reply_(other.reply_), raise_(other.raise_) {}
    answer &operator=(answer &&other) noexcept {
        if (this != &other) {
            nearcall_deferred_drop(call_);
            call_ = other.moved();
            reply_ = other.reply_;
            raise_ = other.raise_;
        }
        return *this;
    }
    answer(const answer &) = delete;
    answer &operator=(const answer &) = delete;
    ~answer() { nearcall_deferred_drop(call_); }

    /* It is there to be replied to. */
    explicit operator bool() const { return call_ != nullptr; }
    /* Results that cannot be sent are told as those of other procedures are. */
    void operator()(T... results) {
        if (call_ != nullptr) {
            reply_(moved(), results...);
        }
    }
    /* With an exception of the interface; of others its client learns that there was one. It is of
     * the type that it has here: in a handler of a base, raise std::current_exception(). */
    template <class X> void raise(const X &exception) { raise(std::make_exception_ptr(exception)); }
    /* The same of std::current_exception(); null is an exception that is not of the interface. */
    void raise(const std::exception_ptr &exception) {
        if (call_ == nullptr) {
            return;
        }
        /* What is null cannot be thrown. */
        const auto none = [] { return std::invalid_argument("no exception was raised"); };
        raise_(moved(), exception ? exception : std::make_exception_ptr(none()));
    }
    /* The call, as current_call has that of a thread; none once it was replied to. */
    std::optional<nearcall::current> current() const {
        using found = std::optional<nearcall::current>;
        return call_ != nullptr ? found(nearcall_deferred_current(call_)) : found();
    }

  private:
    nearcall_deferred *moved() { return std::exchange(call_, nullptr); }

    nearcall_deferred *call_;
    void (*reply_)(nearcall_deferred *, T &...);
    void (*raise_)(nearcall_deferred *, const std::exception_ptr &);
};

namespace detail {

/* In the handler of what a procedure has thrown that may have moved its answer. */
template <class... T> void threw_unanswered(answer<T...> &answer, const char *procedure) {
    if (answer) {
        answer.raise(std::current_exception());
        return;
    }
    nearcall_environment env;
    nearcall_begin(&env);
    threw(&env, procedure, false);
    nearcall_tell_unanswered(procedure, env.message);
}

} // namespace detail

} // namespace nearcall

#endif
