//! Classes that export servers, of either kind.

use crate::back::c::text::Text;

/// The class that exports a server; `kind` is what C calls those of its kind by, before the name.
pub fn print_clerk(
    [server, clerk]: [&str; 2],
    (c, kind): (&str, &str),
    functions: &[String],
    runs: impl FnOnce(&mut Text),
    text: &mut Text,
) {
    text.line("/* An exported server. This and the server stay until the domain is shut down. */");
    text.open(format!("class {clerk} {{"));
    text.label("  public:");
    text.line(format!("{clerk}(const ::nearcall::domain &domain, const ::std::string &name,"));
    text.line(format!("    {server} &server,"));
    text.open("    const ::nearcall::export_options &options = {}) {");
    text.line("nearcall_environment env;");
    text.line("const nearcall_export_options knobs = options.c();");
    text.line("c_.self = &server;");
    for name in functions {
        text.line(format!("c_.{name} = run_{name};"));
    }
    let export = format!("::nearcall_export_with_{kind}{c}");
    text.line(format!("own_.reset({export}(domain.c(), name.c_str(), &c_, &knobs, &env));"));
    text.lines(["if (!own_) {", "    throw ::nearcall::call_error(env);", "}"].map(String::from));
    text.close("}");
    text.line(format!("{clerk}(const {clerk} &) = delete;"));
    text.line(format!("{clerk} &operator=(const {clerk} &) = delete;"));
    text.line(
        "/* Who may bind is what a file says from here on: how many bindings of which it says",
    );
    text.line(" * something else were revoked. */");
    text.open("::std::size_t set_policy(const ::std::string &path) {");
    text.line("return ::nearcall::detail::set_policy(own_.get(), path);");
    text.close("}");
    text.label("  private:");
    runs(text);
    text.open("struct release {");
    text.line("void operator()(nearcall_clerk *own) const { ::nearcall_clerk_release(own); }");
    text.close("};");
    text.line(format!("::nearcall_{kind}server_{c} c_{{}};"));
    text.line("::std::unique_ptr<nearcall_clerk, release> own_;");
    text.close("};");
}
