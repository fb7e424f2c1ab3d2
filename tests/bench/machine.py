"""The machine and the compilers that numbers were measured with, as lines of Markdown."""
import os
import platform
import subprocess

CPU = "/sys/devices/system/cpu/cpu0/cache"


def lines_of(path):
    try:
        with open(path, encoding="utf-8") as f:
            return [line.strip() for line in f]
    except OSError:
        return []


def processor():
    """The name of the processor, and its widest vector instructions."""
    fields = {}
    for line in lines_of("/proc/cpuinfo"):
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    flags = fields.get("flags", "").split()
    name = fields.get("model name", platform.processor() or platform.machine())
    if "model" in fields:
        name += f" (family {fields.get('cpu family')}, model {fields['model']}, stepping {fields.get('stepping')})"
    widest = next((shown for flag, shown in (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("sse2", "SSE2")) if flag in flags), None)
    place = ", virtual machine" if "hypervisor" in flags else ""
    return f"{name}{', ' + widest if widest else ''}, {os.cpu_count()} cores{place}"


def caches():
    found = []
    for index in sorted(os.listdir(CPU)) if os.path.isdir(CPU) else []:
        level, kind, size = ("".join(lines_of(os.path.join(CPU, index, name))) for name in ("level", "type", "size"))
        if level and kind != "Instruction":
            found.append(f"L{level} {size}")
    return found


def memory():
    total = [line.split() for line in lines_of("/proc/meminfo") if line.startswith("MemTotal:")]
    return [f"{int(total[0][1]) / 1e6:.0f} GB of memory"] if total else []


def compilers(commands):
    names = dict.fromkeys(command.split()[0] for command in commands)
    return [subprocess.run([name, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")[0] for name in names]


def described(commands):
    return [f"{', '.join([processor()] + caches() + memory())};",
            f"{platform.system()} {platform.release().split('-')[0]}, {', '.join(compilers(commands))}.", ""]
