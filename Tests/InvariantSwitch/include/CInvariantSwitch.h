#ifndef CREALM_INVARIANT_SWITCH_H
#define CREALM_INVARIANT_SWITCH_H

// A program with this target checks what each step changed in the structures of the library, in debug builds: it says so in its
// environment before anything runs, unless the environment says something else. There is nothing to call.

#endif
