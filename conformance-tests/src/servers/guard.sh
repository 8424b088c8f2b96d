# Ends what was started in a folder, and then removes it, once standard input ends: when the test is done with it, or
# when the test's process is gone, in whatever way.
folder=$1
read -r _

# Whoever starts a process records it first (start.sh), and can no longer do so from here on.
mv "$folder/processes" "$folder/ended"
for record in "$folder"/ended/*; do
  [ -e "$record" ] || continue
  read -r signal < "$record"
  # Each is the leader of a group.
  id=${record##*/}
  kill -s "${signal:-KILL}" -- "-$id"
  # It may have been paused.
  kill -s CONT -- "-$id"
  tries=0
  while kill -s 0 "$id" && [ "$tries" -lt 200 ]; do
    sleep 0.05
    tries=$((tries + 1))
  done
  # Not once it is gone: its number may be that of another group by then.
  [ "$tries" -lt 200 ] || kill -s KILL -- "-$id"
done

# A second time for what a process that was just killed was still writing.
rm -rf "$folder" || rm -rf "$folder"
