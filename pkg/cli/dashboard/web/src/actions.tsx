// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useId, useMemo, useRef, useState, type ReactNode } from 'react'
import { requestOf, type Action } from './action'
import { request, type APIError } from './api'
import { useAccess, useNamespace } from './hooks'

function send(namespace: string, action: Action, isDryRun: boolean) {
  const { method, path, body, contentType } = requestOf(namespace, action, 'kubectl-modelbox', isDryRun)
  return request(method, path, { body, contentType })
}

// OptionBox offers the option of an action to a user who may use it.
function OptionBox(props: { option: NonNullable<Action['option']>; isChosen: boolean; isBusy: boolean; onChoose: (choice: boolean) => void }): ReactNode {
  const { option, isChosen, isBusy, onChoose } = props
  const isAllowed = useAccess(option.access)
  if (!isAllowed) return null
  return (
    <p>
      <label>
        <input type="checkbox" checked={isChosen} disabled={isBusy} onChange={(event) => onChoose(event.target.checked)} /> {option.label}
      </label>
    </p>
  )
}

// Confirm shows what the server says of an action, without doing it, and does it once it is confirmed.
function Confirm({ action: asked, onClose }: { action: Action; onClose: (done?: string) => void }): ReactNode {
  const namespace = useNamespace()
  const dialog = useRef<HTMLDialogElement>(null)
  const title = useId()
  const [warnings, setWarnings] = useState<string[]>()
  const [error, setError] = useState<APIError>()
  const [isBusy, setBusy] = useState(false)
  const [isChosen, setChosen] = useState(false)
  const action = useMemo(() => (isChosen ? { ...asked, body: { ...asked.body, ...asked.option?.fields } } : asked), [asked, isChosen])
  const done = useRef<string>(undefined)
  useEffect(() => dialog.current?.showModal(), [])
  useEffect(() => {
    let isCurrent = true
    send(namespace, action, true)
      .then((answer) => isCurrent && setWarnings(answer.warnings))
      .catch((failure: APIError) => isCurrent && setError(failure))
    return () => {
      isCurrent = false
    }
  }, [namespace, action])
  const choose = (choice: boolean) => {
    setChosen(choice)
    setWarnings(undefined)
    setError(undefined)
  }
  const confirm = () => {
    setBusy(true)
    send(namespace, action, false)
      .then(() => {
        done.current = action.done
        // Which gives the focus back.
        dialog.current?.close()
      })
      .catch((failure: APIError) => {
        setBusy(false)
        setError(failure)
      })
  }
  return (
    <dialog ref={dialog} aria-labelledby={title} onClose={() => onClose(done.current)}>
      <h2 id={title}>{action.label}</h2>
      <p>{action.question}</p>
      {action.option && <OptionBox option={action.option} isChosen={isChosen} isBusy={isBusy} onChoose={choose} />}
      <div role="status">
        {!warnings && !error && <p className="quiet">Asking the server with a dry run…</p>}
        {warnings?.length === 0 && !error && <p>The server accepts it, without a warning.</p>}
        {warnings && warnings.length > 0 && (
          <>
            <p>The server warns:</p>
            <ul className="warnings">
              {warnings.map((warning) => (
                <li key={warning}>{warning}</li>
              ))}
            </ul>
          </>
        )}
        {error && <p className="failure">{error.message}</p>}
      </div>
      <p className="buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button type="button" className="primary" disabled={!warnings || !!error || isBusy} onClick={confirm}>
          {action.label}
        </button>
      </p>
    </dialog>
  )
}

// ActionButton offers an action to a user who may do it.
export function ActionButton({ action, onAsk }: { action: Action; onAsk: (action: Action) => void }): ReactNode {
  const isAllowed = useAccess(action.access)
  if (!isAllowed) return null
  return (
    <button type="button" onClick={() => onAsk(action)}>
      {action.label}
    </button>
  )
}

// How long a view says what has been done.
const noticeAge = 15_000

// useActions returns what asks about an action, and what a view shows of it. The dialog is of the view: a button may go while the
// user is asked.
export function useActions(): { ask: (action: Action) => void; dialog: ReactNode; notice: ReactNode } {
  const [asked, setAsked] = useState<Action>()
  const [notice, setNotice] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setNotice(''), noticeAge)
    return () => clearTimeout(timer)
  }, [notice])
  const close = (done?: string) => {
    setAsked(undefined)
    if (done) setNotice(done)
  }
  return { ask: setAsked, dialog: asked && <Confirm action={asked} onClose={close} />, notice: <span role="status">{notice}</span> }
}
