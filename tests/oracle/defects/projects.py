"""The repositories behind the short names of `seen`."""
import re

PROJECTS = {
    "agent-lightning": "microsoft/agent-lightning", "alpaca_farm": "tatsu-lab/alpaca_farm", "AReaL": "areal-project/AReaL",
    "ART": "OpenPipe/ART", "atropos": "NousResearch/atropos", "axolotl": "axolotl-ai-cloud/axolotl", "chatllama": "nebuly-ai/optimate",
    "ColossalAI": "hpcaitech/ColossalAI", "compose-rl": "databricks/compose-rl", "cosmos-rl": "nvidia-cosmos/cosmos-rl",
    "DeepSeekRL-Extended": "brendanhogan/DeepSeekRL-Extended", "DeepSpeed-Chat": "deepspeedai/DeepSpeedExamples",
    "DrMAS": "langfengQ/DrMAS", "EasyR1": "hiyouga/EasyR1", "Fast-LLM": "ServiceNow/Fast-LLM", "fla": "fla-org/flash-linear-attention",
    "Flow-Factory": "X-GenGroup/Flow-Factory", "gem": "axon-rl/gem", "grail": "one-covenant/grail", "grpo-flat": "XU-YIJIE/grpo-flat",
    "GRPO-Zero": "policy-gradient/GRPO-Zero", "hands-on-modern-rl": "walkinglabs/hands-on-modern-rl", "IGPO": "GuoqingWang1/IGPO",
    "labs-molt": "NVIDIA-NeMo/labs-molt", "Liger": "linkedin/Liger-Kernel", "Logic-RL": "Unakar/Logic-RL",
    "marin": "marin-community/marin", "Megatron-LM": "NVIDIA/Megatron-LM", "MemGen": "bingreeky/MemGen", "miles": "radixark/miles",
    "MindSpeed-RL": "Ascend/MindSpeed-RL", "minimind": "jingyaogong/minimind", "mlx-examples": "ml-explore/mlx-examples",
    "mlx-lm-lora": "Goekdeniz-Guelmez/mlx-lm-lora", "ms-swift": "modelscope/ms-swift", "NeMo Automodel": "NVIDIA-NeMo/Automodel",
    "NeMo-RL": "NVIDIA-NeMo/RL", "oat": "sail-sg/oat", "open-instruct": "allenai/open-instruct",
    "open_spiel": "google-deepmind/open_spiel", "OpenRLHF": "OpenRLHF/OpenRLHF", "PipelineRL": "ServiceNow/PipelineRL",
    "prime-rl": "PrimeIntellect-ai/prime-rl", "pytorch-cpp-rl": "Omegastick/pytorch-cpp-rl", "Pytorch-DPPO": "alexis-jacq/Pytorch-DPPO",
    "R1-V": "StarsfieldAI/R1-V", "reasoning-from-scratch": "rasbt/reasoning-from-scratch", "Relax": "redai-studio/Relax",
    "reskill": "amazon-science/reskill", "RL2": "ChenmienTan/RL2", "RLinf": "RLinf/RLinf", "rllm": "rllm-org/rllm",
    "ROLL": "alibaba/ROLL", "safe-grid-agents": "jvmncs/safe-grid-agents", "Search-R1": "PeterGriffinJin/Search-R1",
    "SkyRL": "NovaSky-AI/SkyRL", "slime": "THUDM/slime", "Soup": "MakazhanAlpamys/Soup", "stable-baselines3": "DLR-RM/stable-baselines3",
    "takuseno/ppo": "takuseno/ppo", "tianshou": "thu-ml/tianshou", "tinker-cloud": "GMISWE/tinker-cloud", "ToolRL": "qiancheng0/ToolRL",
    "torchforge": "meta-pytorch/torchforge", "torchrl": "pytorch/rl", "torchtitan": "pytorch/torchtitan",
    "Trinity": "agentscope-ai/Trinity-RFT", "TRL": "huggingface/trl", "trlx": "CarperAI/trlx", "tunix": "google/tunix",
    "UniRL": "Tencent-Hunyuan/UniRL", "unsloth": "unslothai/unsloth", "unsloth-zoo": "unslothai/unsloth-zoo", "verl": "verl-project/verl",
    "verl-agent": "langfengQ/verl-agent", "verl-omni": "verl-project/verl-omni", "verl-tool": "TIGER-AI-Lab/verl-tool",
    "xtuner": "InternLM/xtuner",
}
NAME = re.compile(r"(?<![\w/-])(" + "|".join(sorted(map(re.escape, PROJECTS), key=len, reverse=True)) + r")(?![\w/-])")


def named(text):
    return set(NAME.findall(text))


def faults(seen):
    """Errors in a text of `seen`: a project that had it both right and wrong, or a number without a project."""
    wrong, right_in, right = seen.partition("right in ")
    if right_in and named(wrong) & named(right):
        yield "a project had it right and wrong"
    if "#" in seen and not named(seen[:seen.index("#")]):
        yield "a number without a project"
    if seen.startswith("none known") and re.search(r"\bbefore #|\bfixed in\b", seen):
        yield "fixed where none is known"
