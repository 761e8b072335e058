
jar=@jar@
# Only in a directory of our own: another user could plant an archive, which contains code. With sudo, the home
# directory may be that user's.
archives=
cache=${XDG_CACHE_HOME:-${HOME:-}}
if [ -n "$cache" ] && [ -O "$cache" ]; then
  archives=${XDG_CACHE_HOME:-$HOME/.cache}/taskclock
  mkdir -p -m 700 -- "$archives" 2>/dev/null || true
  if ! [ -O "$archives" ]; then archives=; fi
fi
find_java
launch "$@"
exit 1 # the shell must not read on: a jar may follow
