// Values that hold their own type, as they are made, copied, moved, sent and refused.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "boxing.hpp"
#include "check.h"

namespace {

namespace boxing = nearcall::idl::boxing;
using boxing::Node;

void prime(Node &node) {
    node.name += '\'';
    if (node.next) {
        prime(*node.next);
    }
    for (auto &one : node.named) {
        prime(*one.second);
    }
    for (auto &group : node.groups) {
        for (auto &one : group) {
            prime(*one.second);
        }
    }
    for (Node &one : node.all) {
        prime(one);
    }
    if (node.link._d) {
        prime(*std::get<1>(node.link._u));
    }
}

// One that comes before it, and so a level of box and one of optional more.
Node behind(Node &&next) {
    Node node;
    node.next = std::move(next);
    return node;
}

struct Planted : nearcall::taker<Node, std::uint32_t> {
    std::uint32_t count = 0;
    void take(const Node &) override { count++; }
    std::uint32_t end() override { return count; }
};

class Trees : public boxing::TreesServer {
  public:
    Node primed(const Node &node) override {
        Node changed = node;
        if (changed.name == "deeper") {
            changed = behind(std::move(changed));
        }
        prime(changed);
        return changed;
    }
    std::int32_t counted(const boxing::Twig &twig) override { return twig.only.number + 1; }
    std::unique_ptr<nearcall::taker<Node, std::uint32_t>> planted() override {
        return std::make_unique<Planted>();
    }
};

Node leaf(const char *name) {
    Node node;
    node.name = name;
    return node;
}

// One of each way to hold another.
Node tree() {
    Node node = leaf("root");
    node.next = leaf("next");
    node.next->next.emplace(leaf("after"));
    node.named["a"] = leaf("named");
    node.groups.resize(2);
    node.groups[1]["b"] = leaf("grouped");
    node.all.push_back(leaf("one"));
    node.link._d = true;
    node.link._u.emplace<1>(leaf("linked"));
    return node;
}

void copy_and_move() {
    Node node = tree();
    Node copy = node;
    copy.next->name = "other";
    copy.named.at("a")->name = "other";
    CHECK(node.next->name == "next" && node.named.at("a")->name == "named");
    copy.next = node.next;
    CHECK(copy.next->name == "next" && &*copy.next != &*node.next);
    Node taken = std::move(*copy.next);
    CHECK(taken.name == "next" && taken.next->name == "after" && !taken.next->next);
    nearcall::boxed<Node> one = leaf("one");
    nearcall::boxed<Node> another = std::move(one);
    CHECK(!one.has_value() && another->name == "one");
    another.reset();
    CHECK(!another);
}

// What cannot be copied, and the sequence of C that stands for some of it.
struct Single {
    std::unique_ptr<std::int32_t> number;
};

struct Numbers {
    std::uint32_t _length;
    std::int32_t *_buffer;
};

void nc_give(const Single &value, std::int32_t &target, std::uint32_t) { target = *value.number; }

// Elements are sent from where they are: of a tree, each level would be copied with all below it.
void send_without_copies() {
    std::vector<Single> all(2);
    all[0].number = std::make_unique<std::int32_t>(6);
    all[1].number = std::make_unique<std::int32_t>(28);
    Numbers numbers{};
    nearcall::detail::nc_give(all, numbers, 0);
    CHECK(numbers._length == 2 && numbers._buffer[0] == 6 && numbers._buffer[1] == 28);
    nearcall_free(numbers._buffer);
}

void call(const boxing::Trees &trees) {
    Node came = trees.primed(tree());
    CHECK(came.name == "root'" && came.next->name == "next'");
    CHECK(came.next->next->name == "after'" && !came.next->next->next);
    CHECK(came.named.size() == 1 && came.named.at("a")->name == "named'");
    CHECK(came.groups.size() == 2 && came.groups[0].empty());
    CHECK(came.groups[1].at("b")->name == "grouped'");
    CHECK(came.all.size() == 1 && came.all[0].name == "one'");
    CHECK(came.link._d && std::get<1>(came.link._u)->name == "linked'");
    boxing::Twig twig;
    twig.only.number = 6;
    CHECK(trees.counted(twig) == 7);
}

// A box without a value, a union that holds another case, and nesting are all out of range.
template <class F> void expect_refusal(F function, const std::string &why) {
    try {
        function();
        CHECK(false);
    } catch (const nearcall::call_error &error) {
        CHECK(error.outcome == NEARCALL_USAGE && error.what() == why);
        CHECK(error.reason() == nearcall::reason::out_of_range);
    }
}

// A member that has to be there, and a value of a map, are not sent without a value.
void refuse(const boxing::Trees &trees) {
    Node node = leaf("root");
    node.named["nobody"];
    expect_refusal([&] { trees.primed(node); },
                   "node: a value of boxing::Node::named is 0, allowed is one that is there");
    node.named.clear();
    // The member that it is in, wherever that stands.
    node.groups.resize(2);
    node.groups[1]["nobody"];
    node.named["somebody"] = leaf("inner");
    expect_refusal([&] { trees.primed(node); },
                   "node: a value of boxing::Node::groups is 0, allowed is one that is there");
    node.groups.clear();
    node.named["somebody"]->named["nobody"];
    expect_refusal([&] { trees.primed(node); },
                   "node: a value of boxing::Node::named is 0, allowed is one that is there");
    node.named.clear();
    node.link._d = true;
    node.link._u.emplace<1>();
    expect_refusal([&] { trees.primed(node); }, "node is 0, allowed is one that is there");
    // Not left out unseen, where the discriminator was forgotten.
    node.link = {false, leaf("linked")};
    expect_refusal([&] { trees.primed(node); },
                   "node: the discriminator of boxing::Link is 0, which selects alternative 0, and "
                   "it holds alternative 1");
}

const std::string too_deep = " is 65 levels deep, allowed is 0 to 64";

// As deep as is written, and one level deeper, of values that are each in the one before.
template <class F> void expect_limit(const boxing::Trees &trees, int levels, Node node, F around) {
    for (int level = 0; level < levels; level++) {
        node = around(std::move(node));
    }
    CHECK(!trees.primed(node).name.empty());
    expect_refusal([&] { trees.primed(around(std::move(node))); }, "node" + too_deep);
}

// The innermost has lists, which count one.
void count_levels(const boxing::Trees &trees) {
    expect_limit(trees, 31, leaf("boxed"), [](Node &&inner) {
        Node node = behind(std::move(inner));
        node.name = "next";
        return node;
    });
    const auto listed = [](Node &&inner) {
        Node node = leaf("list");
        node.all.push_back(std::move(inner));
        return node;
    };
    expect_limit(trees, 63, leaf("listed"), listed);
    expect_limit(trees, 63, leaf("named"), [](Node &&inner) {
        Node node = leaf("map");
        node.named["inner"] = std::move(inner);
        return node;
    });
    expect_limit(trees, 63, leaf("linked"), [](Node &&inner) {
        Node node = leaf("union");
        node.link._d = true;
        node.link._u.emplace<1>(std::move(inner));
        return node;
    });
    Node counting = leaf("optional");
    counting.numbers.emplace();
    expect_limit(trees, 62, std::move(counting), listed);
}

// An item is in a batch, which is a level.
void count_levels_of_items(const boxing::Trees &trees) {
    Node node = leaf("item");
    for (int level = 0; level < 62; level++) {
        Node outer;
        outer.all.push_back(std::move(node));
        node = std::move(outer);
    }
    auto sink = trees.planted();
    sink.put(node);
    Node outer;
    outer.all.push_back(std::move(node));
    expect_refusal([&] { sink.put(outer); }, "item" + too_deep);
    CHECK(sink.end() == 1);
}

// However deep a value is that somebody has made, its conversion takes no more stack.
void refuse_abyss(const boxing::Trees &trees) {
    Node node = leaf("bottom");
    for (int links = 0; links < 100000; links++) {
        node = behind(std::move(node));
    }
    expect_refusal([&] { trees.primed(node); }, "node" + too_deep);
    // Destroyed as it is, each box would be in the middle of the one before.
    while (node.next) {
        Node next = std::move(*node.next);
        node = std::move(next);
    }
}

// What a reader would take for a lie is refused where it is made, and the binding holds.
void refuse_depth(const boxing::Trees &trees) {
    // The innermost has lists, which count one.
    Node node = leaf("last");
    for (int links = 1; links < 31; links++) {
        node = behind(std::move(node));
    }
    CHECK(trees.primed(node).next->next);
    node.name = "deeper";
    node = behind(std::move(node));
    CHECK(trees.primed(node).next->name == "deeper'");
    expect_refusal([&] { trees.primed(behind(Node(node))); }, "node" + too_deep);
    node.name = "deeper";
    try {
        trees.primed(node);
        CHECK(false);
    } catch (const nearcall::call_error &error) {
        CHECK(error.outcome == NEARCALL_RESULTS_REFUSED);
    }
}

} // namespace

int main() {
    nearcall::domain domain;
    Trees server;
    boxing::TreesClerk clerk(domain, "trees", server);
    nearcall::orderly_end end(domain);
    boxing::Trees trees(domain, "trees");
    copy_and_move();
    send_without_copies();
    call(trees);
    refuse(trees);
    refuse_depth(trees);
    count_levels(trees);
    count_levels_of_items(trees);
    refuse_abyss(trees);
    call(trees);
    std::printf("%u checks\n", checks);
}
