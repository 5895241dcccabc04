//! As Karpenter does it: the largest pods first, each on what is there, else on a claim opened earlier, else on a new
//! claim of the heaviest pool that can. Pods that are alike go together.

use super::atoms::{ABSENT, Bits};
use super::desk::Payment;
use super::problem::{Rule, Where, times};
use super::sets::SetId;
use super::state::{Ask, Round};

/// Whether claims may be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// They may.
    Allowed,
    /// Only what is there is used.
    Never,
}

/// Places all pods that can be placed, classes in the order given.
pub(super) fn first_fit(round: &mut Round<'_, '_>, order: &[usize], opening: Opening) {
    loop {
        let before = round.missing();
        for class in order {
            place_class(round, *class, opening);
        }
        // Pods that look for others may find them only now.
        if round.missing() == before || round.missing() == 0 {
            return;
        }
    }
}

/// Places what can be placed of one class, giving up wishes one at a time.
pub(super) fn place_class(round: &mut Round<'_, '_>, class: usize, opening: Opening) {
    if !round.problem.classes[class].refusal.is_empty() {
        return;
    }
    for level in 0..round.problem.classes[class].levels.len() {
        if round.left(class) == 0 {
            return;
        }
        place_level(round, class, level, opening);
    }
}

fn place_level(round: &mut Round<'_, '_>, class: usize, level: usize, opening: Opening) {
    if round.problem.classes[class].level(level).wanted.is_empty() {
        return;
    }
    if founds_on_host(round, class, level) {
        found(round, class, level, opening);
    }
    if !round.is_pinned(class, level) {
        return plainly(round, class, level, opening);
    }
    match round.label_keys(class, level)[..] {
        [key] => by_value(round, class, level, key, opening),
        _ => one_by_one(round, class, level, opening),
    }
}

/// Whether pods of the class look for their own company on one host and none of it is anywhere.
fn founds_on_host(round: &Round<'_, '_>, class: usize, level: usize) -> bool {
    let it = &round.problem.classes[class];
    it.level(level).rules.iter().any(|group| {
        let about = &round.problem.groups[*group];
        about.rule == Rule::Together
            && about.at == Where::Host
            && round.state.anywhere[*group] == 0
            && it.feeds.binary_search(group).is_ok()
    })
}

/// Puts the first pods of a company where as many as possible of it have room.
fn found(round: &mut Round<'_, '_>, class: usize, level: usize, opening: Opening) {
    let left = round.left(class);
    let mut ask = Ask {
        class,
        level,
        most: left,
        pin: None,
    };
    let mut best: Option<(usize, usize)> = None;
    for place in 0..round.state.places.len() {
        let room = round.admit(place, ask).map_or(0, |admission| admission.count);
        if room == left {
            round.put(place, ask);
            return;
        }
        if room > best.map_or(0, |(room, _)| room) {
            best = Some((room, place));
        }
    }
    if opening == Opening::Allowed {
        let before = round.state.clone();
        let count = round.open(ask);
        if count > best.map_or(0, |(room, _)| room) {
            return;
        }
        round.state = before;
    }
    if let Some((room, place)) = best {
        ask.most = room;
        round.put(place, ask);
    }
}

fn plainly(round: &mut Round<'_, '_>, class: usize, level: usize, opening: Opening) {
    let ask = |round: &Round<'_, '_>| Ask {
        class,
        level,
        most: round.left(class),
        pin: None,
    };
    // Devices are given out for one pod at a time.
    let again = round.problem.classes[class].devices;
    let mut place = 0;
    while place < round.state.places.len() && round.left(class) > 0 {
        let ask = ask(round);
        let count = round.put(place, ask);
        place += usize::from(count == 0 || !again);
    }
    while opening == Opening::Allowed && round.left(class) > 0 {
        if round.open(ask(round)) == 0 {
            return;
        }
        let last = round.state.places.len() - 1;
        while again && round.left(class) > 0 && round.put(last, ask(round)) > 0 {}
    }
}

/// One value of the label at a time, each with its own walk over the places.
fn by_value(round: &mut Round<'_, '_>, class: usize, level: usize, key: usize, opening: Opening) {
    let atoms = round.problem.keys.atoms(key);
    let pin =
        |round: &mut Round<'_, '_>, atom: usize| round.desk.sets.only(key, Bits::one(atoms.len(), atom));
    let mut walks: Vec<Walk> = Vec::new();
    for atom in 0..atoms.len() {
        if atoms.is_named(atom) || atom == ABSENT {
            let pin = pin(round, atom);
            walks.push(Walk {
                quote: quote(round, class, level, pin),
                atom,
                pin,
                next: 0,
                opens: opening == Opening::Allowed,
            });
        }
    }
    // Of places and values that are as good the cheaper.
    walks.sort_by_key(|walk| (walk.quote, walk.atom));
    while round.left(class) > 0 {
        let (allowed, _, most) = round.allowed(class, level, key);
        let most = most.min(round.left(class));
        let mut placed = false;
        while !placed {
            let end = round.state.places.len();
            let open = |walk: &&mut Walk| allowed.has(walk.atom) && walk.next < end;
            let Some(walk) = walks.iter_mut().filter(open).min_by_key(|walk| walk.next) else {
                break;
            };
            let ask = Ask {
                class,
                level,
                most,
                pin: Some(walk.pin),
            };
            placed = round.may_hold(walk.next, class) && round.put(walk.next, ask) > 0;
            walk.next += usize::from(!placed);
        }
        if placed {
            continue;
        }
        let choices = walks
            .iter()
            .enumerate()
            .filter(|(_, walk)| walk.opens && allowed.has(walk.atom));
        let crowd = |(index, walk): (usize, &Walk)| (round.crowd(class, level, key, walk.atom), index);
        let mut choices: Vec<(u64, usize)> = choices.map(crowd).collect();
        choices.sort_unstable();
        let opened = choices.into_iter().any(|(_, index)| {
            let ask = Ask {
                class,
                level,
                most,
                pin: Some(walks[index].pin),
            };
            let last = round.state.places.len();
            let opens = round.open(ask) > 0;
            walks[index].opens = opens;
            if opens {
                walks[index].next = last;
            }
            opens
        });
        if !opened {
            return;
        }
    }
}

/// A value of a label, and how far its places have been asked.
struct Walk {
    /// What a pod costs on a new node with the value.
    quote: u64,
    atom: usize,
    pin: SetId,
    /// The place to be asked next.
    next: usize,
    /// Whether claims with the value can be opened.
    opens: bool,
}

/// What a pod of the class costs on a new node with one more requirement, once the pods that are left fill it as far as
/// they can: on the best kind of the first pool that has one.
fn quote(round: &mut Round<'_, '_>, class: usize, level: usize, pin: SetId) -> u64 {
    let problem = round.problem;
    let it = &problem.classes[class];
    let alone = !it.ports.is_empty() || it.devices;
    let room = round.host_room(class, level, &vec![0; problem.hosts], true);
    let left = round.left(class);
    let most = room.min(if alone { 1 } else { left });
    let none = vec![0; problem.dims.len()];
    // How many nodes can be had in each way: a reservation that is not enough for all does not count.
    let reserved = round.state.reserved.iter().enumerate();
    let reserved = reserved.map(|(reservation, nodes)| (Payment::Reserved(reservation), *nodes as usize));
    let ways: Vec<(Payment, usize)> = std::iter::once((Payment::Market, usize::MAX))
        .chain(reserved)
        .collect();
    for (index, pool) in problem.pools.iter().enumerate() {
        if !round.serves(index, class, level) {
            continue;
        }
        let mut best = u64::MAX;
        for wanted in &it.level(level).wanted {
            let both = round.desk.sets.and(pool.template, *wanted);
            let Some(set) = both.and_then(|both| round.desk.sets.and(both, pin)) else {
                continue;
            };
            for (way, nodes) in &ways {
                let profile = round.desk.profile(problem, index, set, *way);
                let profile = round.desk.get(profile);
                for kind in &profile.by_price {
                    let room = times(&none, &it.requests, &pool.kinds[*kind].usable).min(most);
                    if room > 0 && room.saturating_mul(*nodes) >= left {
                        best = best.min(profile.prices[*kind] / room as u64);
                    }
                    if room == most {
                        // The others cost more and hold no more of them.
                        break;
                    }
                }
            }
        }
        if best < u64::MAX {
            return best;
        }
    }
    u64::MAX
}

/// Rules over several labels: every place is asked for every pod.
fn one_by_one(round: &mut Round<'_, '_>, class: usize, level: usize, opening: Opening) {
    let ask = Ask {
        class,
        level,
        most: 1,
        pin: None,
    };
    while round.left(class) > 0 {
        let placed = (0..round.state.places.len()).any(|place| round.put(place, ask) > 0);
        if !placed && (opening == Opening::Never || round.open(ask) == 0) {
            return;
        }
    }
}
