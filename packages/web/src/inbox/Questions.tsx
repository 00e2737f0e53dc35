import { type Question, toAnswerText } from '@fleetloom/protocol/fleet';
import { useState } from 'react';
import type { InboxItem } from '../model/inbox-items.ts';
import { cleanLine, cleanText } from '@fleetloom/protocol/text';
import { giveAnswer } from './answer.ts';

/** A program's questions, each with its options as buttons and a text field for another answer. */
export function Questions({ item }: { item: InboxItem }) {
  const { questions } = item;
  const [chosen, setChosen] = useState<readonly (readonly string[])[]>(() => questions.map(() => []));
  const [texts, setTexts] = useState<readonly string[]>(() => questions.map(() => ''));
  const answers = questions.map((_, index) => [...chosen[index]!, texts[index]!.trim()].filter((one) => one !== ''));
  const isWhole = answers.every((one) => one.length > 0);
  const send = (all: readonly (readonly string[])[]) =>
    giveAnswer(
      item,
      toAnswerText(
        questions,
        all.map((one) => one.join(', ')),
      ),
    );
  const choose = (index: number, label: string) => {
    const before = chosen[index]!;
    const isOn = before.includes(label);
    const { isMultiple } = questions[index]!;
    // One click answers the only question, and can be undone like any decision.
    if (questions.length === 1 && !isMultiple) return send([[label]]);
    const others = isMultiple ? before.filter((one) => one !== label) : [];
    setChosen(chosen.with(index, isOn ? others : [...others, label]));
  };
  return (
    <form
      className="questions"
      onSubmit={(event) => {
        event.preventDefault();
        if (isWhole) send(answers);
      }}
    >
      {questions.map((question, index) => (
        <QuestionField
          key={index}
          question={question}
          chosen={chosen[index]!}
          text={texts[index]!}
          onChoose={(label) => choose(index, label)}
          onText={(text) => setTexts(texts.with(index, text))}
        />
      ))}
      <div className="card-actions">
        <button type="submit" className="primary" disabled={!isWhole}>
          Send answer
        </button>
      </div>
    </form>
  );
}

interface QuestionFieldProps {
  readonly question: Question;
  readonly chosen: readonly string[];
  readonly text: string;
  readonly onChoose: (label: string) => void;
  readonly onText: (text: string) => void;
}

function QuestionField({ question, chosen, text, onChoose, onText }: QuestionFieldProps) {
  return (
    <fieldset>
      <legend>{cleanText(question.text)}</legend>
      {question.isMultiple && <p className="quiet">More than one answer is possible.</p>}
      {question.options.map(({ label, description }, index) => (
        <p key={index}>
          <button type="button" aria-pressed={chosen.includes(label)} onClick={() => onChoose(label)}>
            {cleanLine(label)}
          </button>
          {description !== null && <span className="quiet"> {cleanText(description)}</span>}
        </p>
      ))}
      <label>
        <span className="quiet">{question.options.length === 0 ? 'Answer' : 'Other answer'}</span>
        <input type="text" value={text} onChange={(event) => onText(event.target.value)} />
      </label>
    </fieldset>
  );
}
