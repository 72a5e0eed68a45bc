// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useId, useMemo, useRef, useState, type ReactNode } from 'react'
import { APIError, pathOf, request, type Access } from './api'
import { useAccess, useNamespace } from './hooks'
import type { ModelBox } from './types'

// Action is a request that changes a box or a stack.
export interface Action {
  label: string
  // question is what is asked before it is done.
  question: string
  // done is what has been done after it.
  done: string
  access: Access
  body: Record<string, unknown>
  // option is what a user who may do that can choose before it is done. It adds fields to the body.
  option?: { label: string; access: Access; fields: Record<string, unknown> }
}

const verbs = { patch: 'PATCH', create: 'POST' } as const

type Resource = Access['resource']

const nouns: Record<Resource, string> = { modelboxes: 'box', modelstacks: 'stack' }

export function pauseAction(resource: Resource, name: string, paused: boolean): Action {
  const noun = nouns[resource]
  return {
    label: paused ? 'Pause' : 'Resume',
    question: paused
      ? `Pause ${noun} ${name}? The server leaves its children as they are, and changes wait until it is resumed.`
      : `Resume ${noun} ${name}? The server applies what has changed meanwhile.`,
    done: `${noun} ${name} ${paused ? 'paused' : 'resumed'}`,
    access: { verb: 'patch', resource, name },
    body: { spec: { paused } },
  }
}

export function restartAction(resource: Resource, name: string): Action {
  return {
    label: 'Restart',
    question: `Restart ${nouns[resource]} ${name}? All its pods are replaced by new ones that are the same.`,
    done: `${nouns[resource]} ${name} restarted`,
    access: { verb: 'create', resource, subresource: 'restart', name },
    body: { apiVersion: 'model.github.com/v1', kind: 'ModelBoxRestart' },
  }
}

export function retryAction(name: string): Action {
  return {
    label: 'Retry',
    question: `Try the failed rollout of box ${name} again, with the same spec?`,
    done: `rollout of box ${name} retried`,
    access: { verb: 'create', resource: 'modelboxes', subresource: 'retry', name },
    body: { apiVersion: 'model.github.com/v1', kind: 'ModelBoxRetry' },
  }
}

export function promoteAction(name: string, full: boolean): Action {
  return {
    label: full ? 'Promote fully' : 'Promote',
    question: full
      ? `Leave out all steps that are left in the rollout of box ${name}? The new revision takes the place of the stable one.`
      : `Take the rollout of box ${name} to its next step?`,
    done: `rollout of box ${name} promoted`,
    access: { verb: 'create', resource: 'modelboxes', subresource: 'promote', name },
    body: { apiVersion: 'model.github.com/v1', kind: 'ModelBoxPromotion', full },
  }
}

export function abortAction(name: string): Action {
  return {
    label: 'Abort',
    question: `Abort the rollout of box ${name}? Its pods get the stable revision back, and its spec stays as it is.`,
    done: `rollout of box ${name} aborted`,
    access: { verb: 'create', resource: 'modelboxes', subresource: 'abort', name },
    body: { apiVersion: 'model.github.com/v1', kind: 'ModelBoxAbort' },
  }
}

export function rollbackAction(box: ModelBox, revision: number): Action {
  const name = box.metadata.name
  return {
    label: `Roll back to ${revision}`,
    question: `Roll back box ${name} to revision ${revision}?`,
    done: `box ${name} rolled back to revision ${revision}`,
    access: { verb: 'create', resource: 'modelboxes', subresource: 'rollback', name },
    body: { apiVersion: 'model.github.com/v1', kind: 'ModelBoxRollback', toRevision: revision },
    option: box.spec.rollout?.type
      ? {
          label: 'Immediately, without the steps of the rollout and its checks',
          access: { verb: 'create', resource: 'modelboxes', subresource: 'promote', name },
          fields: { immediate: true },
        }
      : undefined,
  }
}

function send(namespace: string, { access, body }: Action, isDryRun: boolean) {
  const { resource, name, subresource, verb } = access
  const path = pathOf(namespace, resource, name, ...(subresource ? [subresource] : []))
  return request(verbs[verb as keyof typeof verbs], `${path}?fieldManager=kubectl-modelbox${isDryRun ? '&dryRun=All' : ''}`, {
    body,
    contentType: verb === 'patch' ? 'application/merge-patch+json' : undefined,
  })
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
