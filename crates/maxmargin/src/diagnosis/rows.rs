//! Rows that repeat others.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::Finding;
use crate::data::{Answers, Dataset};

pub(super) fn look(data: &Dataset) -> Vec<Finding> {
    // By their digests, in which nobody can make two rows meet; so memory does not grow with the rows' lengths.
    let mut seen: HashMap<[u8; 32], usize> = HashMap::new();
    let (mut repeated, mut contradicted) = ((0, None), (0, None));
    let mut bytes = Vec::new();
    let same_answer = |one: usize, other: usize| match data.answers() {
        Answers::Classes(labels) => labels.codes()[one] == labels.codes()[other],
        Answers::Numbers(numbers) => numbers[one] == numbers[other],
        Answers::None => true,
    };
    for row in 0..data.rows() {
        bytes.clear();
        data.matrix().visit(row, |column, value| {
            if value != 0.0 {
                bytes.extend((column as u32).to_le_bytes());
                bytes.extend(value.to_le_bytes());
            }
        });
        match seen.entry(*blake3::hash(&bytes).as_bytes()) {
            Entry::Vacant(place) => {
                place.insert(row);
            }
            Entry::Occupied(place) => {
                let first = *place.get();
                let (count, pair) = if same_answer(first, row) { &mut repeated } else { &mut contradicted };
                *count += 1;
                pair.get_or_insert([first, row]);
            }
        }
    }
    let mut findings = Vec::new();
    if let (count, Some(first)) = contradicted {
        findings.push(Finding::Contradictions { count, first });
    }
    if let (count, Some(first)) = repeated {
        findings.push(Finding::RepeatedRows { count, rows: data.rows(), first });
    }
    findings
}
