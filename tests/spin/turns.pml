/* Commits that take turns: in order, for a limited time, and none starves because others are quicker.
 *
 * Modelled: clients that commit to a file, again and again: they stand in line for it, plan on what is there at some
 * moment of their turn, and compare inside the gate, in one step with the write, what they planned on with what is
 * there; commits that concern other files, which stand in a second line, of all such commits, before they look at the
 * other files for the last time; turns that are over before their commit is, at any moment of its work, so that the
 * next in line goes past and the late one stands in line anew; a client
 * that hangs for ever in its turn; programs that take no turns and write at any moment, FOREIGN times.
 *
 * Abstracted away: time (a turn may be over as soon as it has begun, LAPSES times for one commit: each next one lasts
 * twice as long, so in the end one is long enough); content (a plan is stale once another has written to its file);
 * what a commit finds in other files (any other that concerns other files may matter to it); a limit to tries, so that
 * a commit that would be refused as `REPOSITORY_BUSY` goes on here; several files of one commit, which stands in all
 * their lines in one step.
 *
 * Claimed:
 *   I3  nothing_is_lost          a write takes effect only on what it was planned on
 *   --  second_sees_first        of two commits that concern each other the second was judged with the first in view
 *   --  first_come_first_served  nobody writes before one who came earlier, unless that one's time was over
 *   --  each_try_has_a_cause     a plan that is made in time is in vain only if a program that takes no turns has
 *                                written meanwhile
 *   --  served                   under weak fairness, where each process that can go on does so in the end: every
 *                                commit ends, whoever hangs or writes beside it
 *
 * Each of these macros takes one part of the protocol away, and must make a claim fail: NO_TURNS (whoever is quickest
 * writes, the others try again), NO_FIRST_COME_FIRST_SERVED (newcomers stand next to who has its turn),
 * TURNS_STAY_SHORT (however often a commit was late), HANGING_TURNS_STAY (what hangs keeps its turn),
 * LOOKS_BEFORE_ITS_TURN (at other files, and not again inside its turn), LATE_WRITES (who lost its turn writes if its
 * plan still holds, and so disturbs whose turn it is), LATE_WRITES_BLINDLY (it does not even compare).
 *
 * CLIENTS and FILES say how many there are; with LINKED_TOO commits may concern other files. With FEWER_MISFORTUNES
 * nobody hangs. All clients are alike, so what is claimed of client 0 holds of each that does not hang.
 */

#ifndef CLIENTS
#define CLIENTS 3
#endif
#ifndef FILES
#define FILES 1
#endif
#ifndef FOREIGN
#define FOREIGN 1
#endif
#ifndef LAPSES
#define LAPSES 1
#endif

/* Says once, while verifying, that a situation was reached: what never happens proves nothing. */
#define REACHED(situation) c_code { static int said; if (!said) { said = 1; printf("reached: " #situation "\n"); } }

typedef Line {
    byte who[CLIENTS];
    byte length
}

Line lines[FILES + 1]; /* one a file, and one of all that concerns other files */
#define REPOSITORY FILES

typedef Commit {
    bool asked;   /* and not answered yet */
    bool linked;  /* concerns other files */
    byte file;
    bool works;   /* its turn has begun, and its time runs */
    bool lapsed;  /* its time was over: it is in no line */
    byte lapses;
    byte earlier; /* who came earlier, has not ended, and has not lapsed: bits */
    bool planned; /* and not compared yet with what is there */
    bool stale;   /* another wrote to the file since it was planned */
    bool blind;   /* another that concerns other files wrote since it looked at them */
    bool excused  /* a program that takes no turns wrote since it was planned */
}

Commit commits[CLIENTS];
bool hangs[CLIENTS];
byte written; /* by programs that take no turns */

/* Scratch of single steps. */
hidden byte place;
hidden byte i;
hidden byte nothing_is_lost;
hidden byte second_sees_first;
hidden byte first_come_first_served;
hidden byte each_try_has_a_cause;

#define MINE commits[self]

ltl served { []<> !commits[0].asked }

inline leave(line, client) {
    place = 0;
    do
    :: place < lines[line].length && lines[line].who[place] != client -> place++
    :: else -> break
    od;
    if
    :: place < lines[line].length ->
        do
        :: place + 1 < lines[line].length ->
            lines[line].who[place] = lines[line].who[place + 1];
            place++
        :: else -> break
        od;
        lines[line].length--;
        lines[line].who[lines[line].length] = 0
    :: else
    fi;
    place = 0
}

inline join(line) {
    place = lines[line].length;
#ifdef NO_FIRST_COME_FIRST_SERVED
    do
    :: place > 1 ->
        lines[line].who[place] = lines[line].who[place - 1];
        place--
    :: else -> break
    od;
#endif
    lines[line].who[place] = self;
    lines[line].length++;
    place = 0
}

inline join_file() {
    MINE.earlier = 0;
    for (i : 0 .. CLIENTS - 1) {
        if
        :: i < lines[MINE.file].length -> MINE.earlier = MINE.earlier | (1 << lines[MINE.file].who[i])
        :: else
        fi
    }
    join(MINE.file);
    i = 0
}

inline is_over_for_others(client) {
    for (i : 0 .. CLIENTS - 1) {
        commits[i].earlier = commits[i].earlier & ~(1 << client)
    }
    i = 0
}

#define IS_FIRST(line) (lines[line].length > 0 && lines[line].who[0] == self)

inline ask() {
    atomic {
#if FILES > 1
        if
        :: MINE.file = 0
        :: MINE.file = FILES - 1
        fi;
#endif
#ifdef LINKED_TOO
        if
        :: MINE.linked = true
        :: MINE.linked = false
        fi;
#endif
        d_step {
            MINE.asked = true;
#ifndef NO_TURNS
            join_file()
#endif
        }
    }
}

/* Waits until all before it have left. */
inline begin(line) {
#ifndef NO_TURNS
    d_step {
        IS_FIRST(line);
        MINE.works = true
    }
#else
    skip
#endif
}

/* Waits for a turn, unless it has one still: then that may be over at any moment, too. */
inline begin_or_go_on() {
    d_step {
        if
        :: MINE.lapsed ->
            REACHED(stood_in_line_anew);
            MINE.lapsed = false;
            MINE.works = false;
            join_file()
        :: else
        fi
    }
    if
    :: MINE.works || MINE.lapsed
    :: begin(MINE.file)
    fi
}

inline plan() {
    d_step {
        MINE.stale = false;
        MINE.blind = false;
        MINE.excused = false;
        MINE.planned = true
    }
}

/* The time of its first turn stands still while it waits for the second. */
inline take_second_turn() {
#ifndef NO_TURNS
    d_step {
        MINE.works = false;
        join(REPOSITORY)
    }
    begin(REPOSITORY);
#endif
#ifndef LOOKS_BEFORE_ITS_TURN
    if
    :: MINE.blind -> plan(); REACHED(looked_again_in_its_turn)
    :: else
    fi
#endif
}

#define FITS (!(MINE.stale || MINE.linked && MINE.blind))
#if defined(LOOKS_BEFORE_ITS_TURN)
#define MAY_WRITE (!MINE.lapsed && !MINE.stale)
#elif defined(LATE_WRITES_BLINDLY)
#define MAY_WRITE (MINE.lapsed || FITS)
#elif defined(LATE_WRITES)
#define MAY_WRITE FITS
#else
#define MAY_WRITE (!MINE.lapsed && FITS)
#endif

inline leave_lines(client) {
    leave(commits[client].file, client);
    leave(REPOSITORY, client)
}

inline spoil(file_too, linked_too) {
    for (i : 0 .. CLIENTS - 1) {
        if
        :: i != self && commits[i].planned ->
            commits[i].stale = commits[i].stale || (commits[i].file == file_too);
            commits[i].blind = commits[i].blind || linked_too
        :: else
        fi
    }
    i = 0
}

inline excuse_others() {
    for (i : 0 .. CLIENTS - 1) {
        commits[i].excused = commits[i].excused || (i != self && commits[i].planned)
    }
    i = 0
}

inline write() {
    nothing_is_lost = !MINE.stale;
    assert(nothing_is_lost);
    second_sees_first = !(MINE.linked && MINE.blind);
    assert(second_sees_first);
    first_come_first_served = (MINE.earlier == 0);
    assert(first_come_first_served);
    spoil(MINE.file, MINE.linked);
    leave_lines(self);
    is_over_for_others(self);
    MINE.asked = false;
    MINE.works = false;
    MINE.lapsed = false;
    MINE.lapses = 0;
    MINE.earlier = 0;
    MINE.linked = false;
    MINE.file = 0
}

inline fail() {
    leave(REPOSITORY, self);
    if
    :: MINE.lapsed -> REACHED(was_too_late)
    :: else ->
        REACHED(tried_again);
#ifndef NO_TURNS
        each_try_has_a_cause = MINE.excused;
        assert(each_try_has_a_cause)
#endif
    fi
}

inline enter_gate() {
    d_step {
        if
        :: MAY_WRITE -> write()
        :: else -> fail()
        fi;
        MINE.planned = false;
        MINE.stale = false;
        MINE.blind = false;
        MINE.excused = false
    }
}

proctype Client(byte self) provided(!hangs[self]) {
    do
    :: ask();
        do
        :: true ->
            begin_or_go_on();
            plan();
            if
            :: MINE.linked -> take_second_turn()
            :: else
            fi;
            enter_gate();
            if
            :: !MINE.asked -> break
            :: MINE.asked
            fi
        od
    od
}

#if defined(TURNS_STAY_SHORT)
#define MAY_LAPSE(client) true
#elif defined(HANGING_TURNS_STAY)
#define MAY_LAPSE(client) (!hangs[client] && commits[client].lapses < LAPSES)
#else
#define MAY_LAPSE(client) (hangs[client] || commits[client].lapses < LAPSES)
#endif

inline lapse(client) {
    d_step {
        commits[client].works && MAY_LAPSE(client);
        REACHED(time_was_over);
        leave_lines(client);
        is_over_for_others(client);
        commits[client].works = false;
        commits[client].lapsed = true;
        commits[client].lapses = (commits[client].lapses < LAPSES -> commits[client].lapses + 1 : LAPSES)
    }
}

proctype Time() {
end:
    do
    :: lapse(0)
    :: lapse(1)
    :: lapse(CLIENTS - 1)
    od
}

inline hang(client) {
    d_step {
        commits[client].works && !hangs[client];
        REACHED(hung);
        hangs[client] = true
    }
}

/* Programs that take no turns, and what else may befall a client: at any moment, and not for ever. */
proctype Misfortune() {
    byte self = CLIENTS;
    do
    :: d_step {
        written < FOREIGN;
        written++;
        spoil(0, false);
        excuse_others()
    }
#ifndef FEWER_MISFORTUNES
    :: hang(CLIENTS - 1)
#endif
    :: break
    od
}

init {
    byte number;
    atomic {
        run Time();
        run Misfortune();
        for (number : 0 .. CLIENTS - 1) {
            run Client(number)
        }
    }
}
