"""trl_loss.py - any objective of OBJECTIVES.md in TRL's GRPOTrainer (written for trl 1.16.0): advantages and loss are the library's, the
rest is TRL's.  The gradient of an optimiser step is that of its whole batch, however it is cut into micro-batches, ranks and generations.

    trainer = ObjectiveTrainer(objective='gvpo', fields={'surrogate.beta': 0.2}, model=..., reward_funcs=..., args=GRPOConfig(...), ...)
    trainer.train()

    python3 examples/python/trl_loss.py [OBJECTIVE [FIELD=VALUE ...]]         # trains a tiny random model, a minute; needs a C compiler
"""
import copy
import dataclasses
import inspect
import os
import sys
import tempfile
import torch
import transformers
import trl
from trl.trainer import utils
import padded

# options of TRL that the objective takes the place of, and what it has for them
OF_ADVANTAGES = {'scale_rewards': 'advantage.scale', 'multi_objective_aggregation': 'advantage.rewards'}
OF_LOSS = {'loss_type': 'surrogate.kind, aggregation.kind', 'beta': 'penalty.kl, penalty.kl_coef', 'epsilon': 'surrogate.eps_low',
           'epsilon_high': 'surrogate.eps_high', 'delta': 'surrogate.clip_dual', 'importance_sampling_level': 'ratio.level',
           'top_entropy_quantile': 'batch.selected', 'entropy_coef': 'penalty.entropy_coef', 'use_adaptive_entropy': 'penalty.entropy_coef',
           'off_policy_mask_threshold': 'weight.off_policy_mask_threshold', 'use_bias_correction_kl': 'penalty.kl_importance_weight'}
LONG = ('logp_old', 'logp_ref', 'logp_rollout', 'entropy', 'rewards', 'token_id')    # go to other processes only if A depends on them


def responses(length, like):
    """1 at the tokens of each response, of the shape of `like`; in TRL responses begin in column 0."""
    return torch.arange(like.shape[1], device=length.device) < length[:, None]


def per_group(arrays, group):
    """What is the same for all responses of a group (baseline), once."""
    return {name: x[::group] if name in padded.PER_GROUP else x for name, x in arrays.items()}


class ObjectiveTrainer(trl.GRPOTrainer):
    """objective: a row, or an objective as tests/framework_options/translate prints it; fields: what to change of it,
    {'surrogate.eps_high': 0.3}; loss: False to replace the advantages only, and leave the loss to TRL's options."""
    def __init__(self, *, objective, fields=(), loss=True, args, **more):
        self.objective, self.replaces_loss = padded.objective(objective, fields), loss
        self.excludes = 'excluded' in padded.reads(self.objective, 0, use=1)
        self.early, self.late = padded.reads(self.objective, 0) | padded.reads(self.objective, 1), padded.reads(self.objective, 2)
        self.whole_groups = loss and padded.LIB.grpo_context_needs_groups(self.objective)
        self.window, self.ready, self.partial = [], [], None            # of an optimiser step: batches, micro-batches to come, report
        default = {f.name: f.default for f in dataclasses.fields(args)}
        name, replaced = objective if isinstance(objective, str) else 'the objective', OF_ADVANTAGES | (OF_LOSS if loss else {})
        changed = [f'{option} ({of})' for option, of in replaced.items() if getattr(args, option) != default[option]]
        if changed:
            raise ValueError(f'{name} takes the place of these options of TRL; change its fields instead: {", ".join(changed)}')
        if loss and 'logp_ref' in self.early | self.late:
            args = copy.copy(args)
            args.beta = 1.0                                             # so that TRL has a reference; its value is not used
        super().__init__(args=args, **more)
        if self.whole_groups and args.per_device_train_batch_size % self.num_generations:
            raise ValueError(f'{name} needs whole groups: per_device_train_batch_size must be a multiple of num_generations (or '
                             'aggregation.kind=token_mean, if only the divisor needs them)')

    def arrays(self, output):                                           # pylint: disable=unused-argument
        """Members of grpo_batch that TRL has not: a row, or a number, for each response of this process.  To be overridden."""
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
        given = self.given(output)
        gathered = lambda x: self.accelerator.gather(self.accelerator.pad_across_processes(x, dim=1))
        whole = {name: gathered(x) for name, x in given.items() if name in self.early or name not in LONG}
        if 'rewards' in whole:
            whole['reward_weight'] = self.reward_weights
        response = responses(gathered(self.length), whole['mask'])
        advantage = padded.advantages(self.objective, self.group(), response, per_group(whole, self.group()))
        advantage = advantage[self.own(), :given['mask'].shape[1]].to(self.length.device)
        output.update(advantages=advantage, length=self.length, **{'batch.' + name: x for name, x in given.items()})
        self.scored = output if self.whole_groups else None
        return output

    def given(self, output):
        """The members of grpo_batch that there are, of the responses of this process."""
        before = {name: output[theirs] for name, theirs in (('logp_old', 'old_per_token_logps'), ('logp_ref', 'ref_per_token_logps'),
                                                            ('logp_rollout', 'sampling_per_token_logps')) if theirs in output}
        if 'logp_old' in before:                                        # without an engine that reports its own, the policy has sampled
            before.setdefault('logp_rollout', before['logp_old'])
        if self.early & {'logp_old', 'logp_rollout', 'entropy'} - set(before):
            with torch.no_grad():
                size = self.args.per_device_train_batch_size if self.model.training else self.args.per_device_eval_batch_size
                old, entropy, _ = self.logps(self.model, output, size)
            before = {'logp_old': old, 'logp_rollout': old, 'entropy': entropy, **before}
        reward = (self.rewards * self.reward_weights.to(self.rewards)).nansum(1)
        unscored = self.rewards.isnan().all(1)                          # refused, unless fields say what to do: advantage.excluded
        reward[unscored] = 0.0 if self.excludes else torch.nan
        return {'mask': (output['completion_mask'] * output.get('tool_mask', 1)).to(torch.uint8), 'token_id': output['completion_ids'],
                'truncated': self.truncated, 'reward': reward[self.own()], 'rewards': self.rewards[self.own()],
                'excluded': unscored[self.own()], **before, **self.arrays(output)}

    def own(self):
        rows = len(self.length)
        return slice(self.accelerator.process_index * rows, (self.accelerator.process_index + 1) * rows)

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
        group = self.group() if self.whole_groups else 1
        return self.objective, group, responses(inputs['length'], arrays['mask']), per_group(arrays, group), inputs['advantages']

    def counted(self, slices):
        totals = padded.zeros('grpo_totals')
        for inputs in slices:
            padded.count(*self.part_of(inputs), totals)
        totals = self.accelerator.reduce(totals.to(self.accelerator.device), 'sum').cpu()
        totals[padded.RANKS] = self.accelerator.num_processes           # over which gradients are averaged
        return [{**inputs, 'totals': totals} for inputs in slices]

    # ---- a micro-batch

    def logps(self, model, inputs, batch_size=None):
        ids, mask = (torch.cat([inputs['prompt_' + name], inputs['completion_' + name]], 1) for name in ('ids', 'mask'))
        more = [name for name in inspect.signature(super()._get_per_token_logps_and_entropies).parameters if name in inputs]
        return self._get_per_token_logps_and_entropies(
            model, ids, mask, inputs['completion_ids'].shape[1], batch_size, compute_entropy=True,
            compute_aux_loss=self.aux_loss_enabled and torch.is_grad_enabled(), **{name: inputs[name] for name in more})

    def _compute_loss(self, model, inputs):
        if not self.replaces_loss:
            return super()._compute_loss(model, inputs)
        training = self.model.training
        logp, entropy, aux = self.logps(model, inputs)
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
    vocabulary = tokenizers.models.WordLevel({str(k): k for k in range(words)}, unk_token='2')
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer(vocabulary), pad_token='0', eos_token='1')
    tokenizer.backend_tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    config = transformers.Qwen2Config(vocab_size=words, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
                                      num_key_value_heads=2, pad_token_id=0, eos_token_id=1, bos_token_id=None)
    torch.manual_seed(1)
    if not os.listdir(folder):
        transformers.Qwen2ForCausalLM(config).save_pretrained(folder)
    return transformers.Qwen2ForCausalLM.from_pretrained(folder), tokenizer


def even(completion_ids, **_):
    """The share of even numbers."""
    return [sum(x % 2 == 0 for x in ids) / len(ids) for ids in completion_ids]


def main(arguments):
    import datasets
    name, fields = (arguments or ['gvpo'])[0], dict(pair.split('=') for pair in arguments[1:])
    fields = {path: float(x) if x[-1].isdigit() and x[0] in '-.0123456789' else x for path, x in fields.items()}
    prompts = datasets.Dataset.from_dict({'prompt': [f'{k} {k + 1}' for k in range(2, 22)] * 40})
    with tempfile.TemporaryDirectory() as folder:
        model, tokenizer = tiny(folder)                                 # before the configuration, with which the processes meet
        args = trl.GRPOConfig(output_dir='none', use_cpu=True, bf16=False, report_to=[], save_strategy='no', disable_tqdm=True,
                              logging_steps=5, max_steps=40, learning_rate=1e-2, lr_scheduler_type='constant', num_generations=8,
                              max_completion_length=8, per_device_train_batch_size=16, gradient_accumulation_steps=4,
                              steps_per_generation=8)
        trainer = ObjectiveTrainer(objective=name, fields=fields, model=model, reward_funcs=even, args=args, processing_class=tokenizer,
                                   train_dataset=prompts)
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.train()
    rewards = [x['reward'] for x in trainer.state.log_history if 'reward' in x]
    if trainer.accelerator.is_main_process:
        print(f'{name}: reward ' + ' '.join(f'{x:.2f}' for x in rewards))
    return rewards[-1] < rewards[0] + 0.2


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
