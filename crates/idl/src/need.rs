//! What is needed before what needs it.

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    Done,
}

/// All of `starts`, which are 0 to their number in any order: each behind those that it needs, as
/// far as no circle forbids it, and else in the order given.
///
/// No recursion: chains may be as long as a file.
pub fn needed_first(starts: &[usize], needs: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
    let mut marks = vec![Mark::New; starts.len()];
    let mut order = Vec::with_capacity(starts.len());
    for start in starts {
        let mut path = vec![*start];
        while let Some(at) = path.last().copied() {
            match marks[at] {
                Mark::New => {
                    marks[at] = Mark::Open;
                    path.extend(needs(at).into_iter().filter(|one| marks[*one] == Mark::New));
                }
                Mark::Open => {
                    marks[at] = Mark::Done;
                    order.push(at);
                    path.pop();
                }
                Mark::Done => {
                    path.pop();
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_is_first_and_a_circle_ends() {
        let needs = |one: usize| [vec![2], vec![], vec![1, 3], vec![0]][one].clone();
        assert_eq!(needed_first(&[0, 1, 2, 3], needs), [3, 1, 2, 0]);
        assert_eq!(needed_first(&[3, 2, 1, 0], |_| Vec::new()), [3, 2, 1, 0]);
    }

    #[test]
    fn a_chain_may_be_long() {
        let all: Vec<usize> = (0..200_000).collect();
        let last = all.len() - 1;
        let order = needed_first(&all, |one| if one < last { vec![one + 1] } else { vec![] });
        assert!(order.into_iter().eq((0..=last).rev()));
    }
}
