#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright the TaskClock authors

# name-functions.sh OBJECT [TOOL-PREFIX]
#
# Gives each function of an object file a second name, taskclock_NAME, that export.map exports. The library's file is
# deleted once it is loaded, so a profiler finds names only in memory, and only the dynamic symbols are there. Calls
# inside the library use the first names, which are hidden, so no other library can come between.
set -eu
object=$1 tools=${2:-}
"${tools}objdump" -t "$object" | awk '{
    for (i = 2; i < NF - 2; i++)
        # Skips JNI_OnLoad, which is exported as it is, and parts that the compiler has split off, such as f.cold.
        if ($i == "F" && $NF != "JNI_OnLoad" && $NF !~ /[.]/)
            print "--add-symbol=taskclock_" $NF "=" $(i + 1) ":0x" $1 ",function,global"
}' > "$object.names"
"${tools}objcopy" "@$object.names" "$object"
rm "$object.names"
