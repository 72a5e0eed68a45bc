// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { memo, useDeferredValue, useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { matches } from './filter'
import { boxReady, boxRollout, summaryOf } from './health'
import { useNamespace, useResource } from './hooks'
import { Age, Failure, Loading, Status } from './parts'
import type { ModelBox, ModelStack } from './types'

const StackRow = memo(function StackRow({ stack }: { stack: ModelStack }): ReactNode {
  const { status, message, health } = summaryOf(stack, 'stack')
  return (
    <tr>
      <th scope="row">
        <a href={`#/stacks/${stack.metadata.name}`}>{stack.metadata.name}</a>
      </th>
      <td>
        {stack.status?.readyComponents ?? 0}/{stack.spec.components.length}
      </td>
      <td>
        <Status health={health}>{status}</Status>
      </td>
      <td>{stack.status?.waitingFor}</td>
      <td>
        <Age from={stack.metadata.creationTimestamp} />
      </td>
      <td className="message">{message}</td>
    </tr>
  )
})

const BoxRow = memo(function BoxRow({ box }: { box: ModelBox }): ReactNode {
  const { status, message, health } = summaryOf(box, 'box')
  return (
    <tr>
      <th scope="row">
        <a href={`#/boxes/${box.metadata.name}`}>{box.metadata.name}</a>
      </th>
      <td>{boxReady(box)}</td>
      <td>
        <Status health={health}>{status}</Status>
      </td>
      <td className="image">{box.spec.image}</td>
      <td>{boxRollout(box)}</td>
      <td>
        <Age from={box.metadata.creationTimestamp} />
      </td>
      <td className="message">{message}</td>
    </tr>
  )
})

// moveFocus moves the focus to the row above or below.
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  const links = [...event.currentTarget.querySelectorAll<HTMLAnchorElement>('tbody a')]
  const at = links.indexOf(document.activeElement as HTMLAnchorElement)
  if (at < 0) return
  event.preventDefault()
  links[at + (event.key === 'ArrowDown' ? 1 : -1)]?.focus()
}

export function NamespaceView(): ReactNode {
  const namespace = useNamespace()
  const stacks = useResource<ModelStack>('modelstacks')
  const boxes = useResource<ModelBox>('modelboxes')
  const [typed, setFilter] = useState('')
  const filter = useDeferredValue(typed)
  const [isNotReadyOnly, setNotReadyOnly] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const focus = (event: globalThis.KeyboardEvent) => {
      if (event.key !== '/' || event.target instanceof HTMLInputElement) return
      event.preventDefault()
      input.current?.focus()
    }
    window.addEventListener('keydown', focus)
    return () => window.removeEventListener('keydown', focus)
  }, [])
  const shownStacks = stacks.items.filter((stack) => {
    const { status, message, health } = summaryOf(stack, 'stack')
    return (!isNotReadyOnly || health !== 'healthy') && matches(filter, [stack.metadata.name, status, message, stack.status?.waitingFor])
  })
  const shownBoxes = boxes.items.filter((box) => {
    const { status, message, health } = summaryOf(box, 'box')
    return (!isNotReadyOnly || health !== 'healthy') && matches(filter, [box.metadata.name, status, message, box.spec.image, boxRollout(box)])
  })
  return (
    <div onKeyDown={moveFocus}>
      <h1>Namespace {namespace}</h1>
      <form role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          Filter <input ref={input} type="search" value={typed} onChange={(event) => setFilter(event.target.value)} placeholder="press /" />
        </label>
        <label>
          <input type="checkbox" checked={isNotReadyOnly} onChange={(event) => setNotReadyOnly(event.target.checked)} /> Only what is not ready
        </label>
      </form>
      <div className="title">
        <h2>Stacks</h2>
        <span className="quiet" role="status">
          {shownStacks.length} of {stacks.items.length} stacks
        </span>
      </div>
      {stacks.error?.isRefusal && <Failure what="modelstacks" error={stacks.error} />}
      {!stacks.isLoaded && !stacks.error && <Loading />}
      {shownStacks.length > 0 && (
        <div className="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Ready</th>
                <th scope="col">Status</th>
                <th scope="col">Waiting for</th>
                <th scope="col">Age</th>
                <th scope="col">Message</th>
              </tr>
            </thead>
            <tbody>
              {shownStacks.map((stack) => (
                <StackRow key={stack.metadata.uid} stack={stack} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <div className="title">
        <h2>Boxes</h2>
        <span className="quiet" role="status">
          {shownBoxes.length} of {boxes.items.length} boxes
        </span>
      </div>
      {boxes.error?.isRefusal && <Failure what="modelboxes" error={boxes.error} />}
      {!boxes.isLoaded && !boxes.error && <Loading />}
      {shownBoxes.length > 0 && (
        <div className="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Ready</th>
                <th scope="col">Status</th>
                <th scope="col">Image</th>
                <th scope="col">Rollout</th>
                <th scope="col">Age</th>
                <th scope="col">Message</th>
              </tr>
            </thead>
            <tbody>
              {shownBoxes.map((box) => (
                <BoxRow key={box.metadata.uid} box={box} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  )
}
