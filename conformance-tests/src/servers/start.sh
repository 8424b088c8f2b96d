# Becomes the program, once the guard of the folder knows how to end it. If the guard is at work already, that fails, and
# nothing is started.
folder=$1 signal=$2
shift 2
# Some are ended by a signal that would leave a core file.
ulimit -c 0
echo "$signal" > "$folder/processes/$$" && exec "$@"
