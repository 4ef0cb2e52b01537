#!/usr/bin/env bash
# Several machines of eight GPUs under Slurm: one `accelerate launch` on each starts its processes.
#   sbatch --nodes 2 examples/scale/distributed/launch/slurm.sh fsdp2 [options of with_trainer.py]
# The first word is fsdp2, zero2 or zero3. Submit it from the root of the course.
#SBATCH --job-name=distributed
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=64
#SBATCH --time=04:00:00
set -euo pipefail

folder=examples/scale/distributed
file=$folder/launch/${1:-fsdp2}-nodes.yaml
if [ ! -f "$file" ]; then
  echo "error: there is no $file" >&2
  echo "  mend: begin with fsdp2, zero2 or zero3, and submit from the root of the course" >&2
  exit 1
fi
gpus=${SLURM_GPUS_ON_NODE:-8}
first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p) # head would break the pipe

# SLURM_NODEID differs on each machine: it is read there, and not here.
# shellcheck disable=SC2016
srun bash -c 'exec accelerate launch --machine_rank "$SLURM_NODEID" "$@"' launch \
  --config_file "$file" \
  --num_machines "$SLURM_NNODES" \
  --num_processes "$((SLURM_NNODES * gpus))" \
  --main_process_ip "$first" \
  --main_process_port 29500 \
  "$folder/with_trainer.py" "${@:2}"
