"""trl_loss.py - any objective of OBJECTIVES.md in TRL's GRPOTrainer (written for trl 1.16.0): advantages and loss are the library's, the
rest is TRL's.  The gradient of an optimiser step is that of its whole batch, however it is cut into micro-batches, ranks and generations.

    trainer = ObjectiveTrainer(objective='gvpo', fields={'surrogate.beta': 0.2}, model=..., reward_funcs=..., args=GRPOConfig(...), ...)
    trainer.train()

    python3 examples/python/trl_loss.py [OBJECTIVE [FIELD=VALUE ...]]         # trains a tiny random model, half a minute
"""
import copy
import dataclasses
import inspect
import os
import sys
import torch
import trl
from trl.trainer import utils
import padded

# options of TRL that the objective takes the place of; beta is also what makes TRL compute a reference
REPLACED = ('loss_type', 'beta', 'epsilon', 'epsilon_high', 'delta', 'importance_sampling_level', 'scale_rewards', 'top_entropy_quantile',
            'multi_objective_aggregation', 'entropy_coef', 'use_adaptive_entropy', 'off_policy_mask_threshold', 'use_bias_correction_kl')
OWN = ('logp_old', 'logp_ref', 'logp_rollout', 'entropy', 'rewards', 'token_id')     # not sent to other processes unless A depends on it


def first(length, like):
    """1 at the first tokens of each row."""
    return torch.arange(like.shape[1], device=length.device) < length[:, None]


class ObjectiveTrainer(trl.GRPOTrainer):
    """objective: a row; fields: what to change of it, {'surrogate.eps_high': 0.3}; loss: False to replace the advantages only, and leave
    the loss to TRL's options."""
    def __init__(self, *, objective, fields=(), loss=True, args, **more):
        self.objective, self.replaces_loss = padded.objective(objective, fields), loss
        self.excludes = dict(fields).get('advantage.excluded', 'none') != 'none'
        self.early, self.late = padded.needs(self.objective)
        self.whole_groups = loss and padded.LIB.grpo_context_needs_groups(self.objective)
        self.window, self.ready, self.partial = [], [], None
        if loss:
            default = {f.name: f.default for f in dataclasses.fields(args)}
            changed = [name for name in REPLACED if getattr(args, name) != default[name]]
            if changed:
                raise ValueError(f'{", ".join(changed)}: options of a loss that {objective} takes the place of; use fields')
            args = copy.copy(args)
            args.beta = 1.0 if 'logp_ref' in self.early | self.late else 0.0
        super().__init__(args=args, **more)
        if self.whole_groups and args.per_device_train_batch_size % self.num_generations:
            raise ValueError(f'{objective} needs whole groups: per_device_train_batch_size must be a multiple of num_generations')

    def arrays(self, output):                                           # pylint: disable=unused-argument
        """Members of grpo_batch that TRL has not, a row for each response of this process: to be overridden."""
        return {}

    # ---- a generation

    def _calculate_rewards(self, inputs, prompts, completions, completion_ids_list):
        end = {*self.eos_token_ids, self._tokenizer.pad_token_id}
        self.length = torch.tensor([len(ids) for ids in completion_ids_list], device=self.accelerator.device)
        self.truncated = torch.tensor([ids[-1] not in end for ids in completion_ids_list], device=self.accelerator.device)
        self.rewards = super()._calculate_rewards(inputs, prompts, completions, completion_ids_list)        # of all processes
        return self.rewards

    def _generate_and_score_completions(self, inputs):
        output = super()._generate_and_score_completions(inputs)
        given, length, rows = self.given(output), self.length, len(output['completion_ids'])
        gathered = lambda x: self.accelerator.gather(self.accelerator.pad_across_processes(x, dim=1))
        whole = {name: gathered(x) for name, x in given.items() if name in self.early or name not in OWN}
        if 'rewards' in whole:
            whole['reward_weight'] = self.reward_weights
        advantage = padded.advantages(self.objective, self.group(), first(gathered(length), whole['mask']), whole)
        own = slice(self.accelerator.process_index * rows, (self.accelerator.process_index + 1) * rows)
        self.scored = {**output, 'advantages': advantage[own, :given['mask'].shape[1]].to(length.device), 'length': length,
                       **{'batch.' + name: x for name, x in given.items()}}
        return self.scored

    def given(self, output):
        """The members of grpo_batch that there are, of the responses of this process."""
        before = {name: output[theirs] for name, theirs in (('logp_old', 'old_per_token_logps'), ('logp_ref', 'ref_per_token_logps'),
                                                            ('logp_rollout', 'sampling_per_token_logps')) if theirs in output}
        if self.early & {'logp_old', 'logp_rollout', 'entropy'} - set(before):
            with torch.no_grad():
                size = self.args.per_device_train_batch_size if self.model.training else self.args.per_device_eval_batch_size
                before['logp_old'], before['entropy'], _ = self.forward(self.model, output, size)
        if 'logp_old' in before:                                        # without an engine that reports its own, the policy has sampled
            before.setdefault('logp_rollout', before['logp_old'])
        reward = (self.rewards * self.reward_weights.to(self.rewards)).nansum(1)
        unscored = self.rewards.isnan().all(1)                          # refused, unless the objective can leave responses out
        reward[unscored] = 0.0 if self.excludes else torch.nan
        own = slice(self.accelerator.process_index * len(self.length), (self.accelerator.process_index + 1) * len(self.length))
        return {'mask': output['completion_mask'] * output.get('tool_mask', 1), 'truncated': self.truncated, 'reward': reward[own],
                'excluded': unscored[own], 'rewards': self.rewards[own], 'token_id': output['completion_ids'], **before,
                **self.arrays(output)}

    def group(self):
        return self.num_generations if self.model.training else self.num_generations_eval

    # ---- an optimiser step: its micro-batches are prepared together, because all are counted in the divisors

    def get_batch_samples(self, *given, **more):
        found = super().get_batch_samples(*given, **more)
        self.window = list(found[0])
        return found

    def _prepare_inputs(self, generation_batch):
        if not self.replaces_loss:
            return super()._prepare_inputs(generation_batch)
        if not self.model.training:
            return self.counted([super()._prepare_inputs(generation_batch)])[0]
        if not self.ready:
            step, slices = self._step, []
            for part in self.window:                                    # no weight changes in between
                slices.append(self.slice_of(part))
                self._step += 1
            self._step, self.ready, self.partial = step, self.counted(slices), padded.zeros('grpo_partial')
        return self.ready.pop(0)

    def slice_of(self, generation_batch):
        before = self._buffered_inputs
        found = super()._prepare_inputs(generation_batch)
        if not self.whole_groups:
            return found
        if self._buffered_inputs is not before:                         # in the order of generation: whole groups
            parts = utils.split_tensor_dict(utils.split_pixel_values_by_grid(self.scored), self.args.steps_per_generation)
            self._buffered_inputs = [utils.unsplit_pixel_values_by_grid(part) for part in parts]
        return self._buffered_inputs[self._step % self.args.steps_per_generation]

    def part_of(self, inputs):
        arrays = {name[6:]: x for name, x in inputs.items() if name.startswith('batch.')}
        arrays = {name: x for name, x in arrays.items() if name in self.late | self.early or name not in ('rewards', 'token_id')}
        return (self.objective, self.group() if self.whole_groups else 1, first(inputs['length'], arrays['mask']), arrays,
                inputs['advantages'].cpu())

    def counted(self, slices):
        totals = padded.zeros('grpo_totals')
        for inputs in slices:
            padded.count(*self.part_of(inputs), totals)
        totals = self.accelerator.reduce(totals.to(self.accelerator.device), 'sum').cpu()
        totals[padded.RANKS] = self.accelerator.num_processes           # over which gradients are averaged
        return [{**inputs, 'totals': totals} for inputs in slices]

    # ---- a micro-batch

    def forward(self, model, inputs, batch_size=None, compute_entropy=True):
        ids, mask = (torch.cat([inputs['prompt_' + name], inputs['completion_' + name]], 1) for name in ('ids', 'mask'))
        more = [name for name in inspect.signature(super()._get_per_token_logps_and_entropies).parameters if name in inputs]
        return self._get_per_token_logps_and_entropies(
            model, ids, mask, inputs['completion_ids'].shape[1], batch_size, compute_entropy,
            self.aux_loss_enabled and torch.is_grad_enabled(), **{name: inputs[name] for name in more})

    def _compute_loss(self, model, inputs):
        if not self.replaces_loss:
            return super()._compute_loss(model, inputs)
        training = self.model.training
        logp, entropy, aux = self.forward(model, inputs)
        obj, group, response, arrays, advantage = self.part_of(inputs)
        arrays.setdefault('logp_old', logp)                             # TRL leaves it out where no step lies between
        arrays.setdefault('logp_rollout', arrays['logp_old'])
        partial = self.partial if training else padded.zeros('grpo_partial')
        loss = padded.loss(obj, group, response, arrays, advantage, logp, entropy if 'entropy' in self.late else entropy.detach(),
                           inputs['totals'], partial)
        if aux is not None:
            loss = loss + self.router_aux_loss_coef * aux / (len(self.window) if training else 1)
        if not self.ready or not training:                              # the last of the step
            self.note(partial, 'train' if training else 'eval')
        return loss

    def note(self, partial, mode):
        """The report of the whole step, under TRL's names."""
        whole = padded.zeros('grpo_partial')
        for part in self.accelerator.gather(partial[None].to(self.accelerator.device)).cpu():
            padded.merge(whole, part)
        found = padded.report(whole)
        for name, x in (('entropy', found.entropy), ('kl', found.kl_k3), ('approx_kl', found.approx_kl_k3), ('ess', found.ess),
                        ('clip_ratio/low_mean', found.clip_fraction_low), ('clip_ratio/high_mean', found.clip_fraction_high),
                        ('clip_ratio/region_mean', found.clip_fraction)):
            self._metrics[mode][name].append(x)


# ---- an example

def tiny(folder, words=24):
    """A random model, and a tokenizer of numbers.  The model is in a folder, because TRL loads the reference by its name."""
    import tokenizers
    import transformers
    vocabulary = tokenizers.models.WordLevel({str(k): k for k in range(words)}, unk_token='2')
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer(vocabulary), pad_token='0', eos_token='1')
    tokenizer.backend_tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    config = transformers.Qwen2Config(vocab_size=words, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
                                      num_key_value_heads=2, pad_token_id=0, eos_token_id=1, bos_token_id=None)
    torch.manual_seed(1)
    if not os.listdir(folder):
        transformers.Qwen2ForCausalLM(config).save_pretrained(folder)
    return transformers.Qwen2ForCausalLM.from_pretrained(folder), tokenizer


def rises(completion_ids, **_):
    """How often a number follows a smaller one."""
    return [sum(a < b for a, b in zip(ids, ids[1:])) / 7 for ids in completion_ids]


def main(arguments):
    import datasets
    name, fields = (arguments or ['gvpo'])[0], dict(pair.split('=') for pair in arguments[1:])
    number = lambda x: float(x) if x.lstrip('-').replace('.', '', 1).replace('e-', '', 1).isdigit() else x
    model, tokenizer = tiny()
    args = trl.GRPOConfig(output_dir='none', use_cpu=True, bf16=False, report_to=[], save_strategy='no', logging_steps=5, max_steps=60,
                          learning_rate=3e-3, per_device_train_batch_size=32, gradient_accumulation_steps=2, steps_per_generation=4,
                          num_generations=8, max_completion_length=8, disable_tqdm=True)
    trainer = ObjectiveTrainer(objective=name, fields={path: number(x) for path, x in fields.items()}, model=model, reward_funcs=rises,
                               args=args, processing_class=tokenizer,
                               train_dataset=datasets.Dataset.from_dict({'prompt': [f'{k} {k + 1}' for k in range(2, 22)] * 40}))
    trainer.train()
    rewards = [x['reward'] for x in trainer.state.log_history if 'reward' in x]
    print('reward ' + ' '.join(f'{x:.2f}' for x in rewards))
    return rewards[-1] < rewards[0] + 0.2


if __name__ == '__main__':
    os.environ.setdefault('TRANSFORMERS_VERBOSITY', 'error')
    sys.exit(main(sys.argv[1:]))
