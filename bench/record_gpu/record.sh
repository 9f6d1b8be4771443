# Records a training run on a GPU with a guest that comes and goes, beside nvidia-smi itself: bash record.sh OUT
# Needs python3 with torch and leadline[record]. OUT/h200 is the run; tests/inside/data/h200 was made so.
set -u
here=$(cd "$(dirname "$0")" && pwd) out=$1
mkdir -p "$out/h200"
export PYTHONUNBUFFERED=1
python3 -m leadline record "$out/h200" --every 1 & recorder=$!
nvidia-smi --query-gpu=timestamp,index,power.draw,utilization.gpu,memory.used,memory.total --format=csv -l 1 > "$out/nvidia-smi.csv" & peer=$!
(sleep 60; python3 "$here/merge_weights.py" 20; sleep 40; python3 "$here/merge_weights.py" 20) &
python3 "$here/train.py" "$out" 3.2
kill -TERM $recorder; wait $recorder; echo "the recorder ended with $?"
kill $peer
