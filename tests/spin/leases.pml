/* Leases and guarded writes, under every order of events.
 *
 * Modelled: agents that read, think for any length of time, take leases (SHARED or EXCLUSIVE, on any set of keys, all
 * or nothing), lose them at any moment, and write all the same with what they still believe; agents that write without
 * a lease, checked by content and by the leases of others; requests that are delivered again at any later time; one
 * store whose transactions are serialised, that makes them durable in groups and answers only what is durable; its
 * crash at any moment, which takes back whatever was not durable yet, so that agents must ask again.
 *
 * Abstracted away: time (a lease may run out at any moment, so no clock can be too fast or too slow for the model);
 * content (that of a key is the set of edits it includes, and its hash is that set); a commit of several keys, which is
 * one step here (that it is all or nothing is shown by killing real commits); waiting (the model of its own beside this
 * one); a forced break, which to everybody but the audit is a lease that ran out; agents that die, which here are never
 * scheduled again.
 *
 * Asserted, under the names that a counterexample shows:
 *   I1  fence_is_new             a fence is greater than every fence that anybody was told before, across crashes too
 *   I2  leases_are_compatible    no two holders have live leases that exclude each other
 *   I3  nobody_was_there_since   a write with a lease takes effect only if none that excludes it was granted since
 *   I3  nobody_else_holds_it     no write takes effect on what another holder has a live lease on
 *   I3  nothing_is_lost          the content includes every edit that took effect
 *   I5  request_acts_once        a request that is repeated has no second effect
 *   --  promises_survive         a grant or a commit that somebody was told of outlives a crash
 * I4 is in the shape: nothing but a release and running out ends a lease.
 *
 * Each of these macros takes one part of the protocol away, and must make an assertion fail: NO_FENCE (a write that
 * names a lease is trusted), NO_CONTENT_CHECK, LEASELESS_LOOKS_AT_NO_LEASE, DEFERRED_TRANSACTIONS (deciding and writing
 * are two steps), ANSWER_BEFORE_FLUSH, NO_FIRST_ANSWER (a repeated request is decided anew), RENEW_REVIVES (an ended
 * lease can be renewed), FENCE_ENDS_WITH_LEASE (the counter goes with the last lease: no tombstone).
 *
 * These make the model larger: AGENTS, ROUNDS, KEYS, SHARED_TOO. These make it smaller: ALWAYS_DURABLE (no crash takes
 * anything back) and DELIVERED_ONCE.
 */

#ifndef AGENTS
#define AGENTS 2
#endif
#ifndef ROUNDS
#define ROUNDS 1 /* jobs that an agent does, one after another */
#endif
#ifndef KEYS
#define KEYS 1
#endif

/* A job is one agent's read, lease and write of some keys. Its number names its lease, its edit and its requests. */
#define JOBS (AGENTS * ROUNDS)
#define HOLDER(job) ((job) / ROUNDS)
#define EDIT(job) (1 << (job))
#define EVERY_KEY ((1 << KEYS) - 1)
#define HAS(keys, key) (((keys) >> (key)) & 1)

/* First answers to requests. */
#define UNASKED 0
#define REFUSED 1
#define DONE 2

/* Says once, while verifying, that a situation was reached: what never happens proves nothing. */
#define REACHED(situation) c_code { static int said; if (!said) { said = 1; printf("reached: " #situation "\n"); } }

typedef Job {
    bool leased; /* else it relies on content alone */
    bool shared;
    byte keys;
    byte base[KEYS];       /* what it read */
    byte fence;            /* what it was told */
    bool asked_to_acquire; /* these requests are on the wire for ever */
    bool asked_to_commit;
    bool asked_to_release;
    bool told_committed;
}

typedef Store {
    byte next_fence;
    byte content[KEYS];
    byte acquired[JOBS]; /* first answers */
    byte committed[JOBS];
    byte released[JOBS];
    bool live[JOBS];
    byte fence[JOBS];
    /* Seen by assertions only. */
    byte effects[KEYS]; /* every edit that took effect */
    bool overtaken[JOBS];
}

Job jobs[JOBS];
Store current; /* what transactions see */
Store durable; /* what a crash leaves */
byte highest_told;

/* Scratch of single steps. */
hidden byte i;
hidden byte key;
hidden byte verdict;
hidden byte fence;
hidden byte fence_is_new;
hidden byte leases_are_compatible;
hidden byte nobody_was_there_since;
hidden byte nobody_else_holds_it;
hidden byte nothing_is_lost;
hidden byte request_acts_once;
hidden byte promises_survive;

#define OVERLAP(one, other) ((jobs[one].keys & jobs[other].keys) != 0)
#define STRANGERS(one, other) (HOLDER(one) != HOLDER(other))
#define EXCLUDE(one, other) (STRANGERS(one, other) && OVERLAP(one, other) && !(jobs[one].shared && jobs[other].shared))

inline copy(from, to) {
    to.next_fence = from.next_fence;
    for (i : 0 .. JOBS - 1) {
        to.acquired[i] = from.acquired[i];
        to.committed[i] = from.committed[i];
        to.released[i] = from.released[i];
        to.live[i] = from.live[i];
        to.fence[i] = from.fence[i];
        to.overtaken[i] = from.overtaken[i]
    }
    for (key : 0 .. KEYS - 1) {
        to.content[key] = from.content[key];
        to.effects[key] = from.effects[key]
    }
    key = 0 /* a step may not end with a loop */
}

/* ---- The store: each transaction decides on what is there, then writes. ---- */

#ifdef NO_FIRST_ANSWER
#define IS_REPEATED(answers, job) false
#else
#define IS_REPEATED(answers, job) (current.answers[job] != UNASKED)
#endif

inline decide_acquire(job) {
    verdict = DONE;
    fence = current.next_fence;
    for (i : 0 .. JOBS - 1) {
        if
        :: current.live[i] && EXCLUDE(i, job) -> verdict = REFUSED
        :: else
        fi
    }
}

inline enact_acquire(job) {
    if
    :: verdict == DONE ->
        REACHED(granted);
        grant(job)
    :: else ->
        REACHED(denied)
    fi;
    current.acquired[job] = verdict
}

inline grant(job) {
    request_acts_once = (current.acquired[job] != DONE);
    assert(request_acts_once);
    fence_is_new = (fence > highest_told);
    assert(fence_is_new);
    current.next_fence = fence + 1;
    current.live[job] = true;
    current.fence[job] = fence;
    check_compatible(job);
    for (i : 0 .. JOBS - 1) {
        current.overtaken[i] = current.overtaken[i] || (current.fence[i] != 0 && EXCLUDE(i, job))
    }
    current.overtaken[job] = false
}

inline check_compatible(job) {
    leases_are_compatible = true;
    for (i : 0 .. JOBS - 1) {
        leases_are_compatible = leases_are_compatible && !(current.live[i] && EXCLUDE(i, job))
    }
    assert(leases_are_compatible)
}

#ifdef NO_FENCE
#define LEASE_LOST(job) false
#define LEASES_MATTER(job) (!jobs[job].leased)
#else
#define LEASE_LOST(job) (jobs[job].leased && !(current.live[job] && current.fence[job] == jobs[job].fence))
#ifdef LEASELESS_LOOKS_AT_NO_LEASE
#define LEASES_MATTER(job) (jobs[job].leased)
#else
#define LEASES_MATTER(job) true
#endif
#endif
#define HOLDS_WHAT(other, job) (current.live[other] && STRANGERS(other, job) && OVERLAP(other, job))
#define LOCK_CONFLICT(other, job) (LEASES_MATTER(job) && HOLDS_WHAT(other, job))

#ifdef NO_CONTENT_CHECK
#define CHANGED(key, job) false
#else
#define CHANGED(key, job) (HAS(jobs[job].keys, key) && current.content[key] != jobs[job].base[key])
#endif

inline decide_commit(job) {
    verdict = DONE;
    for (key : 0 .. KEYS - 1) {
        if
        :: CHANGED(key, job) -> verdict = REFUSED; REACHED(refused_as_content_changed)
        :: else
        fi
    }
    for (i : 0 .. JOBS - 1) {
        if
        :: LOCK_CONFLICT(i, job) -> verdict = REFUSED; REACHED(refused_as_another_holds_it)
        :: else
        fi
    }
    if
    :: LEASE_LOST(job) ->
        if
        :: verdict == DONE -> REACHED(refused_only_for_its_fence)
        :: else
        fi;
        verdict = REFUSED
    :: else
    fi
}

inline enact_commit(job) {
    if
    :: verdict == DONE -> write(job)
    :: else
    fi;
    current.committed[job] = verdict
}

/* An agent writes the whole new text of what it read, with its own edit in it. */
inline write(job) {
    request_acts_once = (current.committed[job] != DONE);
    assert(request_acts_once);
    check_rights(job);
    nothing_is_lost = true;
    for (key : 0 .. KEYS - 1) {
        if
        :: HAS(jobs[job].keys, key) ->
            current.content[key] = jobs[job].base[key] | EDIT(job);
            current.effects[key] = current.effects[key] | EDIT(job)
        :: else
        fi;
        nothing_is_lost = nothing_is_lost && (current.content[key] == current.effects[key])
    }
    assert(nothing_is_lost)
}

inline check_rights(job) {
    if
    :: jobs[job].leased ->
        REACHED(written_with_a_lease);
        nobody_was_there_since = !current.overtaken[job];
        assert(nobody_was_there_since)
    :: else ->
        REACHED(written_without_a_lease)
    fi;
    nobody_else_holds_it = true;
    for (i : 0 .. JOBS - 1) {
        nobody_else_holds_it = nobody_else_holds_it && !HOLDS_WHAT(i, job)
    }
    assert(nobody_else_holds_it)
}

inline decide_release(job) {
    verdict = (current.live[job] -> DONE : REFUSED)
}

#define FENCE_STANDS(job) (current.live[job] && current.fence[job] >= current.next_fence)

inline enact_release(job) {
    current.live[job] = false;
    current.released[job] = verdict;
#ifdef FENCE_ENDS_WITH_LEASE
    current.next_fence = 1;
    for (i : 0 .. JOBS - 1) {
        current.next_fence = (FENCE_STANDS(i) -> current.fence[i] + 1 : current.next_fence)
    }
    i = 0
#endif
}

/* A renewal changes nothing here, where a lease may run out at any moment: it must only not revive an ended one. */
inline renew(job) {
    d_step {
        jobs[job].fence != 0 && !current.live[job];
        REACHED(renewal_refused);
#ifdef RENEW_REVIVES
        current.live[job] = true;
        check_compatible(job)
#endif
    }
}

inline run_out(job) {
    d_step {
        current.live[job];
        current.live[job] = false
    }
}

inline make_durable() {
    d_step {
        copy(current, durable)
    }
}

#define FENCE_KEPT(job) (jobs[job].fence == 0 || jobs[job].fence == durable.fence[job])
#define COMMIT_KEPT(job) (!jobs[job].told_committed || durable.committed[job] == DONE)

inline crash() {
    d_step {
        promises_survive = true;
        for (i : 0 .. JOBS - 1) {
            if
            :: current.acquired[i] == DONE && durable.acquired[i] == UNASKED -> REACHED(grant_lost_in_a_crash)
            :: else
            fi;
            promises_survive = promises_survive && FENCE_KEPT(i) && COMMIT_KEPT(i)
        }
        assert(promises_survive);
        copy(durable, current)
    }
}

/* ---- An agent's side ---- */

#if defined(ANSWER_BEFORE_FLUSH) || defined(ALWAYS_DURABLE)
#define SAID current
#else
#define SAID durable
#endif

#ifdef DEFERRED_TRANSACTIONS
#define THEN_LATER                                                                                                     \
    decided = verdict;                                                                                                 \
    seen_fence = fence;                                                                                                \
    }                                                                                                                  \
    d_step {                                                                                                           \
        verdict = decided;                                                                                             \
        fence = seen_fence;
#else
#define THEN_LATER
#endif

/* Sends a request, again if a crash took it back, until there is an answer that can be relied on. */
#define ASK(answers, asked, decide, enact, learn, job)                                                                 \
    do                                                                                                                 \
    :: atomic {                                                                                                        \
        SAID.answers[job] != UNASKED;                                                                                  \
        learn(job);                                                                                                    \
        break                                                                                                          \
    }                                                                                                                  \
    :: d_step {                                                                                                        \
        current.answers[job] == UNASKED;                                                                               \
        jobs[job].asked = true;                                                                                        \
        decide(job);                                                                                                   \
        THEN_LATER                                                                                                     \
        enact(job)                                                                                                     \
    }                                                                                                                  \
    od

inline learn_fence(job) {
    if
    :: SAID.acquired[job] == DONE ->
        jobs[job].fence = SAID.fence[job];
        highest_told = (jobs[job].fence > highest_told -> jobs[job].fence : highest_told)
    :: else
    fi
}

inline learn_outcome(job) {
    jobs[job].told_committed = (SAID.committed[job] == DONE)
}

inline learn_nothing(job) {
    true
}

/* What is over is forgotten where nothing comes twice, so that the histories that led there count as one. */
#ifdef DELIVERED_ONCE
inline forget(job) {
    d_step {
        for (key : 0 .. KEYS - 1) {
            jobs[job].base[key] = 0
        }
        jobs[job].asked_to_acquire = false;
        jobs[job].asked_to_commit = false;
        jobs[job].asked_to_release = false
    }
}
#else
#define forget(job) true
#endif

/* The network delivers a request once more, at any later time. Nobody reads the answer. */
#define DELIVER_AGAIN(answers, asked, decide, enact, job)                                                              \
    d_step {                                                                                                           \
        jobs[job].asked;                                                                                               \
        if                                                                                                             \
        :: IS_REPEATED(answers, job) -> REACHED(repeated)                                                              \
        :: else ->                                                                                                     \
            decide(job);                                                                                               \
            enact(job)                                                                                                 \
        fi                                                                                                             \
    }

inline choose(job) {
    if
    :: jobs[job].leased = true
    :: jobs[job].leased = false
    fi;
    select(key_set : 1 .. EVERY_KEY);
    jobs[job].keys = key_set;
#ifdef SHARED_TOO
    if
    :: jobs[job].leased -> jobs[job].shared = true
    :: true
    fi
#endif
}

inline read(job) {
    d_step {
        for (key : 0 .. KEYS - 1) {
            jobs[job].base[key] = (HAS(jobs[job].keys, key) -> current.content[key] : 0)
        }
    }
}

proctype Agent(byte name) {
    byte job = name * ROUNDS;
    byte key_set;
#ifdef DEFERRED_TRANSACTIONS
    byte decided;
    byte seen_fence;
#endif
    do
    :: job == (name + 1) * ROUNDS -> break
    :: else ->
        atomic {
            choose(job);
            key_set = 0;
            read(job)
        }
        if
        :: jobs[job].leased ->
            ASK(acquired, asked_to_acquire, decide_acquire, enact_acquire, learn_fence, job);
            if
            :: jobs[job].fence == 0 -> goto next
            :: jobs[job].fence != 0 /* a careless agent writes what it thought of before */
            :: atomic {
                jobs[job].fence != 0;
                read(job)
            }
            fi
        :: else
        fi;
        ASK(committed, asked_to_commit, decide_commit, enact_commit, learn_outcome, job);
        if
        :: jobs[job].leased -> ASK(released, asked_to_release, decide_release, enact_release, learn_nothing, job)
        :: true /* dies, or forgets: the lease will run out */
        fi;
next:
        atomic {
            forget(job);
            job++
        }
    od
}

/* What may befall a job at any moment. */
proctype Fate(byte job) {
end:
    do
    :: run_out(job)
    :: renew(job)
#ifndef DELIVERED_ONCE
    :: DELIVER_AGAIN(acquired, asked_to_acquire, decide_acquire, enact_acquire, job)
    :: DELIVER_AGAIN(committed, asked_to_commit, decide_commit, enact_commit, job)
    :: DELIVER_AGAIN(released, asked_to_release, decide_release, enact_release, job)
#endif
    od
}

proctype Disk() {
end:
    do
    :: make_durable()
    :: crash()
    od
}

init {
    byte number;
    atomic {
        current.next_fence = 1;
        durable.next_fence = 1;
#ifndef ALWAYS_DURABLE
        run Disk();
#endif
        for (number : 0 .. JOBS - 1) {
            run Fate(number)
        }
        for (number : 0 .. AGENTS - 1) {
            run Agent(number)
        }
        number = 0
    }
}
