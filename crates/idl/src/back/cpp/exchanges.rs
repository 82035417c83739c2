//! Exchanges (design note 0020): the two sides that a client has, and the two ends that a procedure
//! is given.

use crate::back::c::exchanges::ExchangeOf;
use crate::back::c::feeds::FeedOf;
use crate::back::c::interface::Procedure;
use crate::back::c::text::Text;
use crate::back::cpp::Cpp;

impl Cpp<'_, '_> {
    /// What a function that opens one returns.
    pub fn sides_type(&self, procedure: Procedure<'_>) -> Option<String> {
        let [sink, feed] = self.side_types(&self.c.exchange_of(procedure)?);
        Some(format!("::std::pair<{sink}, {feed}>"))
    }

    fn side_types(&self, exchange: &ExchangeOf<'_>) -> [String; 2] {
        let (sent, came) = (self.end_name(&exchange.sent), self.end_name(&exchange.came));
        [format!("::nearcall::sink<{sent}>"), format!("::nearcall::feed<{came}>")]
    }

    /// Makes that of what C returned.
    pub fn sides_made(&self, procedure: Procedure<'_>) -> Option<String> {
        let [sink, feed] = self.side_types(&self.c.exchange_of(procedure)?);
        let sides = self.sides_type(procedure)?;
        Some(format!("{sides} nc_returned({sink}(nc_sides.sink), {feed}(nc_sides.feed));"))
    }

    /// The functions of C that both sides of a client call.
    pub fn print_sides(&self, exchange: &ExchangeOf<'_>, text: &mut Text) {
        text.open(format!("struct {} {{", self.ends_name(&exchange.came)));
        self.print_end(&exchange.came, text);
        self.print_end(&exchange.sent, text);
        text.close("};");
    }

    /// The items that go to the server, and those that come from it.
    fn items(&self, exchange: &ExchangeOf<'_>) -> [String; 2] {
        [&exchange.sent, &exchange.came].map(|side| self.type_name(side.item))
    }

    /// The parameters that a server's procedure has besides.
    pub fn exchange_parameters(&self, procedure: Procedure<'_>) -> Vec<String> {
        let Some(exchange) = self.c.exchange_of(procedure) else { return Vec::new() };
        let [sent, came] = self.items(&exchange);
        vec![
            format!("::nearcall::inlet<{sent}> nc_inlet"),
            format!("::nearcall::outlet<{came}> nc_outlet"),
        ]
    }

    /// The ends that it is given, before anything can fail.
    pub fn exchange_ends(&self, procedure: Procedure<'_>, name: &str) -> Vec<String> {
        let Some(exchange) = self.c.exchange_of(procedure) else { return Vec::new() };
        let [sent, came] = self.items(&exchange);
        let own = format!("exchange_{name}");
        vec![
            format!(
                "::nearcall::inlet<{sent}> nc_in(nc_inlet, {own}::next, {own}::release_inlet);"
            ),
            format!("::nearcall::outlet<{came}> nc_out(nc_outlet, {own}::put,"),
            format!("    {own}::release_outlet, {own}::raise);"),
        ]
    }

    /// The functions of C that both ends of a server call.
    pub fn print_exchange(&self, exchange: &ExchangeOf<'_>, name: &str, text: &mut Text) {
        let c = self.c.feed_name(&exchange.came);
        let inlet = format!("static_cast<::nearcall_inlet_{c} *>(nc_own)");
        let outlet = format!("static_cast<::nearcall_outlet_{c} *>(nc_own)");
        text.open(format!("struct exchange_{name} {{"));
        self.print_taken(&exchange.sent, &inlet, text);
        self.print_given(&exchange.came, &outlet, text);
        text.open("static void release_inlet(void *nc_own) {");
        text.line(format!("::nearcall_release_inlet_{c}({inlet});"));
        text.close("}");
        text.open("static void release_outlet(void *nc_own, bool nc_is_whole) {");
        text.line("nearcall_environment nc_env;");
        text.line("::nearcall_begin(&nc_env);");
        text.open("if (!nc_is_whole) {");
        text.line("nc_env.outcome = NEARCALL_GIVEN_UP;");
        text.close("}");
        text.line(format!("::nearcall_release_outlet_{c}({outlet}, &nc_env);"));
        text.close("}");
        text.open("static void raise(void *nc_own, ::std::exception_ptr nc_thrown) {");
        text.line("nearcall_environment nc_own_env;");
        text.line("nearcall_environment *const nc_env = &nc_own_env;");
        text.line("::nearcall_begin(nc_env);");
        text.open("try {");
        text.line("using ::nearcall::detail::nc_give;");
        text.line("::std::rethrow_exception(nc_thrown);");
        self.print_caught(exchange.came.carrier, false, text);
        text.line(format!("::nearcall_release_outlet_{c}({outlet}, nc_env);"));
        text.close("}");
        text.close("};");
    }

    fn print_taken(&self, sent: &FeedOf<'_>, inlet: &str, text: &mut Text) {
        let (c, item) = (self.c.feed_name(sent), self.type_name(sent.item));
        text.open(format!("static bool next(void *nc_own, {item} &nc_target) {{"));
        text.line("using ::nearcall::detail::nc_take;");
        text.line("nearcall_environment nc_env;");
        self.held(sent.item, "nc_item", text);
        text.open(format!("if (::nearcall_take_{c}({inlet}, &nc_item.value, &nc_env)) {{"));
        text.line("nc_take(nc_item.value, nc_target);");
        text.line("return true;");
        text.close("}");
        text.open("if (nc_env.outcome != NEARCALL_RETURNED) {");
        text.line("throw ::nearcall::given_up(nc_env.message);");
        text.close("}");
        text.line("return false;");
        text.close("}");
    }

    fn print_given(&self, came: &FeedOf<'_>, outlet: &str, text: &mut Text) {
        let (c, item) = (self.c.feed_name(came), self.type_name(came.item));
        text.open(format!("static void put(void *nc_own, const {item} &nc_source) {{"));
        text.line("using ::nearcall::detail::nc_give;");
        text.line("nearcall_environment nc_env;");
        self.held(came.item, "nc_item", text);
        text.line(self.given_item(came.item, ["nc_source", "nc_item.value"]));
        text.open(format!("if (!::nearcall_give_{c}({outlet}, nc_item.moved(), &nc_env)) {{"));
        text.open("if (nc_env.outcome == NEARCALL_GIVEN_UP) {");
        text.line("throw ::nearcall::given_up(nc_env.message);");
        text.close("}");
        text.line("throw ::nearcall::call_error(nc_env);");
        text.close("}");
        text.close("}");
    }
}
