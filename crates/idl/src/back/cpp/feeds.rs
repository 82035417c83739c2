//! Feeds (design note 0020): what a client's end is made of, and what C calls for the items of a
//! server's.

use crate::back::c::feeds::FeedOf;
use crate::back::c::interface::Procedure;
use crate::back::c::text::Text;
use crate::back::cpp::Cpp;
use crate::back::cpp::caught::{HAS_RETURNED, NOT_RETURNED};
use crate::layout::{Shape, shape};

impl Cpp<'_, '_> {
    /// What the class is called, inside of the client's, that a client's end is made of, or both
    /// sides of one are; an operation may be called as functions that convert are (`take`).
    pub fn ends_name(&self, feed: &FeedOf<'_>) -> String {
        format!("nc_feed_{}", feed.open.operation.name)
    }

    /// A client's end.
    pub fn end_name(&self, feed: &FeedOf<'_>) -> String {
        let name = self.ends_name(feed);
        match (feed.is_exchange(), feed.end) {
            (false, _) => name,
            (true, None) => name + "::came",
            (true, Some(_)) => name + "::sent",
        }
    }

    /// What a function that opens a feed returns.
    pub fn feed_type(&self, procedure: Procedure<'_>, is_server: bool) -> Option<String> {
        if procedure.operation.opens_exchange() {
            return self.sides_type(procedure).filter(|_| !is_server);
        }
        let feed = self.c.feed_here(procedure)?;
        let (item, end) = (self.type_name(feed.item), self.end_name(&feed));
        Some(match (feed.end, is_server) {
            (None, false) => format!("::nearcall::feed<{end}>"),
            (Some(_), false) => format!("::nearcall::sink<{end}>"),
            (None, true) => format!("::std::unique_ptr<::nearcall::items<{item}>>"),
            (Some(end), true) => {
                let output = self.output(end);
                format!("::std::unique_ptr<::nearcall::taker<{item}, {output}>>")
            }
        })
    }

    /// What becomes of a feed that goes to the server.
    fn output(&self, end: Procedure<'_>) -> String {
        let returns = end.operation.returns.as_ref();
        returns.map_or(String::from("void"), |declared| self.type_name(declared))
    }

    /// The functions of C that a client's end calls.
    pub fn print_end(&self, feed: &FeedOf<'_>, text: &mut Text) {
        let end = self.end_name(feed);
        let own = end.rsplit("::").next().unwrap_or_default();
        text.open(format!("struct {own} {{"));
        text.line(format!("using c = ::{};", self.c.feed_record(feed)));
        text.line(format!("using item = {};", self.type_name(feed.item)));
        text.open("struct release {");
        let release = self.c.release_name(feed);
        text.line(format!("void operator()(c *own) const {{ ::{release}(own); }}"));
        text.close("};");
        match feed.end {
            None => self.print_next(feed, text),
            Some(end) => self.print_put(feed, end, text),
        }
        text.close("};");
    }

    fn print_next(&self, feed: &FeedOf<'_>, text: &mut Text) {
        let name = self.c.feed_name(feed);
        text.open("static bool next(c *own, item &nc_target) {");
        text.line("using ::nearcall::detail::nc_take;");
        text.line("nearcall_environment nc_env;");
        self.held(feed.item, "nc_item", text);
        text.open(format!("if (::nearcall_next_{name}(own, &nc_item.value, &nc_env)) {{"));
        text.line("nc_take(nc_item.value, nc_target);");
        text.line("return true;");
        text.close("}");
        self.print_thrown(feed.carrier, text);
        text.line("return false;");
        text.close("}");
    }

    fn print_put(&self, feed: &FeedOf<'_>, end: Procedure<'_>, text: &mut Text) {
        let name = self.c.feed_name(feed);
        let output = self.output(end);
        text.line(format!("using output = {output};"));
        text.open("static void put(c *own, const item &nc_source) {");
        text.line("using ::nearcall::detail::nc_give;");
        text.line("nearcall_environment nc_env;");
        self.held(feed.item, "nc_item", text);
        text.line(self.given_item(feed.item, ["nc_source", "nc_item.value"]));
        text.line(format!("::nearcall_put_{name}(own, nc_item.moved(), &nc_env);"));
        self.print_thrown(feed.carrier, text);
        text.close("}");
        text.open("static void flush(c *own) {");
        text.line("nearcall_environment nc_env;");
        text.line(format!("::nearcall_flush_{name}(own, &nc_env);"));
        self.print_thrown(feed.carrier, text);
        text.close("}");
        text.open("static output end(c *own) {");
        text.line("nearcall_environment nc_env;");
        match &end.operation.returns {
            Some(declared) => {
                text.line("using ::nearcall::detail::nc_take;");
                self.held(declared, "nc_held", text);
                text.line(format!("nc_held.value = ::nearcall_end_{name}(own, &nc_env);"));
                self.print_thrown(end, text);
                text.line("output nc_returned{};");
                text.line("nc_take(nc_held.value, nc_returned);");
                text.line("return nc_returned;");
            }
            None => {
                text.line(format!("::nearcall_end_{name}(own, &nc_env);"));
                self.print_thrown(end, text);
            }
        }
        text.close("}");
    }

    /// Gives what a procedure returned to C.
    pub fn made(&self, procedure: Procedure<'_>, name: &str) -> Vec<String> {
        let Some(feed) = self.c.feed_here(procedure) else { return Vec::new() };
        let mut lines = vec![
            String::from("if (!nc_made) {"),
            String::from("    throw ::std::invalid_argument(\"no feed was returned\");"),
            String::from("}"),
            String::from("nc_returned.self = nc_made.release();"),
            format!("nc_returned.release = release_{name};"),
        ];
        let functions = feed.made_functions().iter();
        lines.extend(functions.map(|one| format!("nc_returned.{one} = {one}_{name};")));
        lines
    }

    /// What C calls for the items of a feed that a procedure has returned.
    pub fn print_made(&self, procedure: Procedure<'_>, name: &str, text: &mut Text) {
        let Some(feed) = self.c.feed_here(procedure) else { return };
        let item = self.type_name(feed.item);
        let class = match feed.end {
            None => format!("::nearcall::items<{item}>"),
            Some(end) => format!("::nearcall::taker<{item}, {}>", self.output(end)),
        };
        text.open(format!("static void release_{name}(void *self) {{"));
        text.line(format!("delete static_cast<{class} *>(self);"));
        text.close("}");
        match feed.end {
            None => self.print_made_items(&feed, (name, &class), text),
            Some(end) => self.print_made_taker(&feed, end, (name, &class), text),
        }
    }

    fn print_made_items(&self, feed: &FeedOf<'_>, (name, class): (&str, &str), text: &mut Text) {
        let declared = feed.item;
        let item = self.c.declarator(declared, "*nc_item");
        text.open(format!(
            "static bool next_{name}(void *nc_self, {item}, nearcall_environment *nc_env) {{"
        ));
        self.held(declared, "nc_new", text);
        text.line(NOT_RETURNED);
        text.open("try {");
        text.line("using ::nearcall::detail::nc_give;");
        text.line(format!("{} nc_made{{}};", self.type_name(declared)));
        text.open(format!("if (static_cast<{class} *>(nc_self)->next(nc_made)) {{"));
        text.line(HAS_RETURNED);
        text.line(self.given_item(declared, ["nc_made", "nc_new.value"]));
        text.line("*nc_item = nc_new.moved();");
        text.line("return true;");
        text.close("}");
        self.print_caught(feed.carrier, true, text);
        text.line("return false;");
        text.close("}");
    }

    fn print_made_taker(
        &self,
        feed: &FeedOf<'_>,
        end: Procedure<'_>,
        (name, class): (&str, &str),
        text: &mut Text,
    ) {
        let declared = feed.item;
        let item = self.c.in_parameter(declared, "nc_item");
        text.open(format!(
            "static void take_{name}(void *nc_self, {item}, nearcall_environment *nc_env) {{"
        ));
        text.open("try {");
        text.line("using ::nearcall::detail::nc_give;");
        text.line("using ::nearcall::detail::nc_take;");
        text.line(format!("{} nc_taken{{}};", self.type_name(declared)));
        let is_plain =
            matches!(shape(self.c.model, declared), Shape::Scalar(_)) || self.c.is_text(declared);
        let star = if is_plain { "" } else { "*" };
        text.line(format!("nc_take({star}nc_item, nc_taken);"));
        text.line(format!("static_cast<{class} *>(nc_self)->take(nc_taken);"));
        self.print_caught(feed.carrier, false, text);
        text.close("}");
        let returns = end.operation.returns.as_ref();
        let c = self.c.returned_type(end.operation);
        let star = if c.ends_with('*') { "" } else { " " };
        text.open(format!(
            "static {c}{star}end_{name}(void *nc_self, nearcall_environment *nc_env) {{"
        ));
        if let Some(declared) = returns {
            self.held(declared, "nc_returned", text);
            text.line(NOT_RETURNED);
        }
        text.open("try {");
        let call = format!("static_cast<{class} *>(nc_self)->end()");
        match returns {
            Some(declared) => {
                text.line("using ::nearcall::detail::nc_give;");
                text.line(format!("const auto nc_value = {call};"));
                text.line(HAS_RETURNED);
                text.line(self.given_returned_value(declared, ["nc_value", "nc_returned.value"]));
            }
            None => text.line(format!("{call};")),
        }
        self.print_caught(end, returns.is_some(), text);
        if returns.is_some() {
            text.line("return nc_returned.moved();");
        }
        text.close("}");
    }
}
