/* Waiting for one key: first come, first served, and nobody waits for ever.
 *
 * Modelled: waiters that queue, subscribe, look, sleep until they are woken, take the key when it is free and they are
 * first, give it back, and queue again, for ever; the death of any of them at any moment; a sweeper that in the end
 * removes what the dead hold and where they stand in the queue; a server that wakes the first in the queue some time
 * after a change was recorded, and that may crash in between: then the queue is still there, but subscriptions and
 * calls that were under way are lost, and every waiter notices that its connection broke.
 *
 * Abstracted away: time (that something runs out is said of the dead only; an agent that was suspended for longer than
 * its TTL is one that died, and another one afterwards); modes and several keys (in the model beside this one); waiting
 * while holding another key, where a cycle has to be refused before anybody waits.
 *
 * Claimed:
 *   I2  nobody_holds_it   a key is taken only while it is free (an assertion)
 *   I4  served            under weak fairness, where each process that can go on does so in the end: whoever queues is
 *                         granted the key or, once dead, removed; so neither a dead holder nor a dead waiter blocks
 *
 * Each of these macros takes one part of the protocol away, and must make `served` fail: LOST_WAKEUP (looks before it
 * subscribes: a release in between wakes nobody), DEAD_WAITERS_STAY (a place in the queue never runs out), NO_ORDER
 * (whoever finds the key free takes it), SILENT_RESTART (a restart wakes nobody), SWEEP_WAKES_NOBODY (what the sweeper
 * frees is announced to nobody).
 *
 * WAITERS says how many there are. With FEWER_MISFORTUNES the server does not crash and waiter 0 does not die. All
 * waiters are alike, so what is claimed of waiter 0 holds of each.
 */

#ifndef WAITERS
#define WAITERS 3
#endif
#define NOBODY WAITERS

/* Says once, while verifying, that a situation was reached: what never happens proves nothing. */
#define REACHED(situation) c_code { static int said; if (!said) { said = 1; printf("reached: " #situation "\n"); } }

/* Recorded: outlives a crash. */
byte holder = NOBODY;
byte queue[WAITERS];
byte queue_length;

/* The server's memory: does not. */
bool must_wake_first;
bool subscribed[WAITERS];
bool woken[WAITERS];

/* What is so, whoever knows it. */
bool waits[WAITERS];
bool dead[WAITERS];

hidden byte place;
hidden byte nobody_holds_it;

ltl served { []<> !waits[0] }

inline leave_queue(who) {
    place = 0;
    do
    :: place < queue_length && queue[place] != who -> place++
    :: else -> break
    od;
    do
    :: place + 1 < queue_length ->
        queue[place] = queue[place + 1];
        place++
    :: else -> break
    od;
    queue_length--;
    queue[queue_length] = 0;
    waits[who] = false
}

inline join_queue(who) {
    d_step {
        queue[queue_length] = who;
        queue_length++;
        waits[who] = true
    }
}

inline take(who) {
    nobody_holds_it = (holder == NOBODY);
    assert(nobody_holds_it);
    holder = who;
    leave_queue(who)
}

#ifdef NO_ORDER
#define MAY_TAKE(who) (holder == NOBODY)
#else
#define MAY_TAKE(who) (holder == NOBODY && queue[0] == who)
#endif

#ifdef LOST_WAKEUP
#define SUBSCRIBE_BEFORE(who)
#define SUBSCRIBE_AFTER(who) subscribed[who] = true;
#else
#define SUBSCRIBE_BEFORE(who) subscribed[who] = true;
#define SUBSCRIBE_AFTER(who)
#endif

inline look(who) {
    d_step {
        if
        :: MAY_TAKE(who) -> take(who)
        :: else -> REACHED(found_it_taken)
        fi
    }
}

inline sleep(who) {
    d_step {
        woken[who];
        woken[who] = false;
        REACHED(woken)
    }
}

#ifdef SWEEP_WAKES_NOBODY
#define SWEEP_IS_ANNOUNCED must_wake_first
#else
#define SWEEP_IS_ANNOUNCED true
#endif

inline release(who) {
    d_step {
        subscribed[who] = false;
        woken[who] = false;
        holder = NOBODY;
        must_wake_first = true
    }
}

proctype Waiter(byte self) provided(!dead[self]) {
    do
    :: join_queue(self);
        do
        :: true ->
            SUBSCRIBE_BEFORE(self)
            look(self);
            if
            :: holder == self -> break
            :: holder != self
            fi;
            SUBSCRIBE_AFTER(self)
            sleep(self)
        od;
        release(self)
    od
}

/* What time does to what the dead left. */
inline sweep_holder() {
    d_step {
        holder != NOBODY && dead[holder];
        REACHED(swept_a_holder);
        holder = NOBODY;
        must_wake_first = SWEEP_IS_ANNOUNCED
    }
}

#ifdef DEAD_WAITERS_STAY
#define RUNS_OUT(who) false
#else
#define RUNS_OUT(who) (dead[who] && waits[who])
#endif

inline sweep_waiter(who) {
    d_step {
        RUNS_OUT(who);
        REACHED(swept_a_waiter);
        leave_queue(who);
        must_wake_first = SWEEP_IS_ANNOUNCED
    }
}

inline wake_first() {
    d_step {
        must_wake_first;
        must_wake_first = false;
        if
        :: queue_length > 0 && subscribed[queue[0]] -> woken[queue[0]] = true
        :: else -> REACHED(nobody_to_wake)
        fi
    }
}

proctype Server() {
end:
    do
    :: wake_first()
    :: sweep_holder()
    :: sweep_waiter(0)
    :: sweep_waiter(1)
    :: sweep_waiter(WAITERS - 1)
    od
}

inline crash() {
    d_step {
        if
        :: must_wake_first -> REACHED(wake_up_lost_in_a_crash)
        :: else
        fi;
        must_wake_first = false;
        for (place : 0 .. WAITERS - 1) {
            subscribed[place] = false;
#ifndef SILENT_RESTART
            woken[place] = true
#endif
        }
        place = 0
    }
}

inline kill(who) {
    d_step {
        !dead[who];
        dead[who] = true
    }
}

/* Strikes at any moments, and stops at any moment: fairness must not make a crash the cure. */
proctype Misfortune() {
    do
#ifndef FEWER_MISFORTUNES
    :: crash()
    :: kill(0)
#endif
    :: kill(1)
    :: kill(WAITERS - 1)
    :: break
    od
}

init {
    byte number;
    atomic {
        run Server();
        run Misfortune();
        for (number : 0 .. WAITERS - 1) {
            run Waiter(number)
        }
    }
}
