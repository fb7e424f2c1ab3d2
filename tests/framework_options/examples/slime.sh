SIZE=4B
if [ -n "$NODES" ]; then echo "several nodes"; fi

OBJECTIVE=(
   --advantage-estimator gspo
   #--use-kl-loss
   --kl-loss-coef 0.00
   --kl-loss-type low_var_kl
   --eps-clip 4e-4
   --use-tis
)

OPTIMISER=(
   --lr 1e-6
   --calculate-per-token-loss
)

python3 train.py \
   --colocate \
   ${OBJECTIVE[@]} \
   ${OPTIMISER[@]}
