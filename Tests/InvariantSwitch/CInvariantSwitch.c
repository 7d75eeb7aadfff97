#include "CInvariantSwitch.h"

#include <stdlib.h>

// Before a file is opened, and before there are threads that read the environment. What the program starts inherits it.
__attribute__((constructor)) static void crealm_switch_invariants_on(void) {
    setenv("ACTOR_REALM_INVARIANTS", "change", 0);
}
