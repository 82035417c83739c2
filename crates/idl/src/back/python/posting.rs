//! Call stubs that post now and collect later (design note 0007).

use crate::back::python::Python;
use crate::back::python::interface::arguments;
use crate::back::python::names::InterfaceNames;
use crate::back::python::text::Text;
use crate::back::undocumented;
use crate::model::Interface;

impl Python<'_> {
    /// The class whose functions post calls of an interface.
    pub fn posting(
        &self,
        names: &InterfaceNames,
        name: &str,
        interface: &Interface,
        text: &mut Text,
    ) {
        let posts = format!("Posts calls of `{name}`; what each returns collects the results.");
        text.part();
        text.block(&format!("class {}(_raw.Posting):", names.posting), |text| {
            text.docstring(&None, &posts);
            text.line("");
            text.line("__slots__ = ()");
            let all = interface.operations.iter().zip(&names.functions).enumerate();
            for (index, (operation, function)) in all.filter(|(_, (one, _))| one.is_posted()) {
                text.line("");
                let parameters = self.given_parameters(operation);
                let results = self.result_annotation(operation);
                let pending = format!("_nearcall.Pending[{results}]");
                text.block(&format!("def {function}(self{parameters}) -> {pending}:"), |text| {
                    text.docstring(&operation.doc, &undocumented::called(operation));
                    text.line(&format!("return self._post({index}{})", arguments(operation)));
                });
            }
        });
    }

    /// Where a client has it.
    pub fn posting_property(&self, names: &InterfaceNames, text: &mut Text) {
        let posting = &names.posting;
        text.line("");
        text.line("@property");
        text.block(&format!("def posting(self) -> {posting}:"), |text| {
            text.line("\"\"\"The same calls, posted now and collected later.\"\"\"");
            text.line(&format!("return {posting}(self._binding)"));
        });
    }
}
