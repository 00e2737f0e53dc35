import type {
  CreatedRule,
  RulePreview,
  StandingRule,
  StandingRuleList,
  StandingRuleParams,
} from '@fleetloom/protocol/fleet';
import { plural } from '../model/format.ts';
import { api } from './connection/api.ts';
import { Signal } from './signal.ts';
import { ui } from './stores.ts';

/** The approval rules of the workspace, read from the server. */
class ApprovalRules {
  readonly changed = new Signal();
  rules: readonly StandingRule[] = [];
  state: 'loading' | 'ready' | 'failed' = 'loading';
  problem = '';

  /** Reads the rules again. */
  async load(): Promise<void> {
    try {
      this.rules = (await api.get<StandingRuleList>(PATH)).data;
      this.state = 'ready';
    } catch (error) {
      this.state = 'failed';
      this.problem = messageOf(error);
    }
    this.changed.emit();
  }

  /** Creates a rule. Throws if the server rejects the rule. */
  async create(params: StandingRuleParams): Promise<void> {
    const { answered, text } = await api.post<CreatedRule>(PATH, params);
    ui.notify(`The server now allows ${text}. ${plural(answered, 'pending request')} answered.`);
    await this.load();
  }

  /** Revokes a rule, which then allows no further call. */
  async revoke({ id, text }: StandingRule): Promise<void> {
    try {
      await api.delete(`${PATH}/${id}`);
      ui.notify(`${text} is revoked.`);
    } catch (error) {
      ui.notify(messageOf(error), true);
    }
    await this.load();
  }

  /** How many pending approvals the rule would allow. Throws if the server would reject the rule. */
  async countMatches(params: StandingRuleParams): Promise<number> {
    return (await api.post<RulePreview>(`${PATH}/preview`, params)).matches;
  }
}

/** The rules that this tab has read. */
export const approvalRules = new ApprovalRules();

const PATH = 'v1/fleet/approval_rules';

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
