//! Nodes, tensors and outputs of an ONNX graph, as they are put into its message.
//!
//! The numbers of the fields are those of `onnx.proto`.

use super::wire::Message;

/// The operators' version, and that of `ai.onnx.ml`: the oldest with all that is used, so that old runtimes read the file too.
const OPERATORS: i64 = 13;
const LEARNING_OPERATORS: i64 = 2;
/// The version of the file format that belongs to them.
const FORMAT: i64 = 7;
/// The domain of the operators for classes, numbers and scaling.
const LEARNING: &str = "ai.onnx.ml";

/// A setting of an operator.
pub(super) enum Attribute {
    Number(i64),
    Numbers(Vec<i64>),
    Singles(Vec<f32>),
    Text(&'static str),
    Texts(Vec<String>),
}

/// The values of a constant, or of an output.
pub(super) enum Values {
    Singles(Vec<f32>),
    Numbers(Vec<i64>),
    Texts(Vec<String>),
}

/// The kinds of elements.
#[derive(Clone, Copy)]
pub(super) enum Element {
    Single = 1,
    Number = 7,
    Text = 8,
}

/// A graph that grows node by node.
#[derive(Default)]
pub(super) struct Graph(Message);

impl Graph {
    /// A graph whose input is `name`, rows of so many columns.
    pub(super) fn new(name: &str, columns: usize) -> Self {
        let input = tensor_type(name, Element::Single, Some(columns));
        Graph(Message::default().text(2, "maxmargin").message(11, &input))
    }

    /// An operator of ONNX itself.
    pub(super) fn node(&mut self, kind: &str, inputs: &[&str], output: &str, attributes: &[(&str, Attribute)]) {
        self.push(kind, "", inputs, &[output], attributes);
    }

    /// An operator of `ai.onnx.ml`.
    pub(super) fn learning(&mut self, kind: &str, input: &str, outputs: &[&str], attributes: &[(&str, Attribute)]) {
        self.push(kind, LEARNING, &[input], outputs, attributes);
    }

    fn push(&mut self, kind: &str, domain: &str, inputs: &[&str], outputs: &[&str], attributes: &[(&str, Attribute)]) {
        let mut node = Message::default();
        for input in inputs {
            node = node.text(1, input);
        }
        for output in outputs {
            node = node.text(2, output);
        }
        // Each node is named after what it makes.
        node = node.text(3, outputs.first().unwrap_or(&kind)).text(4, kind);
        for (name, value) in attributes {
            node = node.message(5, &attribute(name, value));
        }
        if !domain.is_empty() {
            node = node.text(7, domain);
        }
        self.add(1, &node);
    }

    /// A constant.
    pub(super) fn constant(&mut self, name: &str, shape: &[usize], values: &Values) {
        let shape: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
        let tensor = Message::default().numbers(1, &shape);
        let tensor = match values {
            Values::Singles(values) => tensor.number(2, Element::Single as i64).singles(4, values),
            Values::Numbers(values) => tensor.number(2, Element::Number as i64).numbers(7, values),
            Values::Texts(values) => {
                let tensor = tensor.number(2, Element::Text as i64);
                values.iter().fold(tensor, |tensor, value| tensor.text(6, value))
            }
        };
        self.add(5, &tensor.text(8, name));
    }

    /// Declares an output: a number a row, or `width` of them.
    pub(super) fn output(&mut self, name: &str, element: Element, width: Option<usize>) {
        self.add(12, &tensor_type(name, element, width));
    }

    fn add(&mut self, field: u32, message: &Message) {
        self.0 = std::mem::take(&mut self.0).message(field, message);
    }

    /// The file, with words for whoever looks into it.
    pub(super) fn into_model(self, version: &str, words: &[(&str, String)]) -> Vec<u8> {
        let operators = |domain: &str, version: i64| Message::default().text(1, domain).number(2, version);
        let mut model = Message::default()
            .number(1, FORMAT)
            .text(2, "maxmargin")
            .text(3, version)
            .message(7, &self.0)
            .message(8, &operators("", OPERATORS))
            .message(8, &operators(LEARNING, LEARNING_OPERATORS));
        for (key, value) in words {
            model = model.message(14, &Message::default().text(1, key).text(2, value));
        }
        model.into_bytes()
    }
}

fn attribute(name: &str, value: &Attribute) -> Message {
    let named = Message::default().text(1, name);
    match value {
        Attribute::Number(value) => named.number(3, *value).number(20, 2),
        Attribute::Text(value) => named.text(4, value).number(20, 3),
        Attribute::Singles(values) => named.singles(7, values).number(20, 6),
        Attribute::Numbers(values) => named.numbers(8, values).number(20, 7),
        Attribute::Texts(values) => values.iter().fold(named, |named, value| named.text(9, value)).number(20, 8),
    }
}

/// A tensor of as many rows as are given, of one element each or of `width`.
fn tensor_type(name: &str, element: Element, width: Option<usize>) -> Message {
    let mut shape = Message::default().message(1, &Message::default().text(2, "rows"));
    if let Some(width) = width {
        shape = shape.message(1, &Message::default().number(1, width as i64));
    }
    let tensor = Message::default().number(1, element as i64).message(2, &shape);
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
}
