// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { memo, useDeferredValue, useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import type { Snapshot } from './collection'
import { matches } from './filter'
import { boxReady, boxRollout, networkSummary, summaryOf, type Summary } from './health'
import { useNamespace, useResource } from './hooks'
import { Age, Failure, Loading, Status, Table } from './parts'
import type { KubeObject, ModelBox, ModelStack, Network } from './types'

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

const NetworkRow = memo(function NetworkRow({ network }: { network: Network }): ReactNode {
  const { status, message, health } = networkSummary(network)
  const { boxes = [], boxesOmitted = 0 } = network.status ?? {}
  return (
    <tr>
      <th scope="row">
        <a href={`#/networks/${network.metadata.name}`}>{network.metadata.name}</a>
      </th>
      <td>{network.spec.type}</td>
      <td>{network.spec.cidr}</td>
      <td>{network.spec.gateway}</td>
      <td>
        <Status health={health}>{status}</Status>
      </td>
      <td>{boxes.length + boxesOmitted}</td>
      <td>
        <Age from={network.metadata.creationTimestamp} />
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

interface SectionProps {
  title: string
  resource: string
  objects: Snapshot<KubeObject>
  // shown is how many of the objects have a row.
  shown: number
  columns: string[]
  children: ReactNode
}

// Section is the table of the objects of a resource.
function Section({ title, resource, objects, shown, columns, children }: SectionProps): ReactNode {
  return (
    <>
      <div className="title">
        <h2>{title}</h2>
        <span className="quiet" role="status">
          {shown} of {objects.items.length} {title.toLowerCase()}
        </span>
      </div>
      {objects.error?.isRefusal && <Failure what={resource} error={objects.error} />}
      {!objects.isLoaded && !objects.error && <Loading />}
      {shown > 0 && <Table columns={columns}>{children}</Table>}
    </>
  )
}

export function NamespaceView(): ReactNode {
  const namespace = useNamespace()
  const stacks = useResource<ModelStack>('modelstacks')
  const boxes = useResource<ModelBox>('modelboxes')
  const networks = useResource<Network>('networks')
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
  const isShown = ({ status, message, health }: Summary, words: (string | undefined)[]) =>
    (!isNotReadyOnly || health !== 'healthy') && matches(filter, [status, message, ...words])
  const shownStacks = stacks.items.filter((stack) => isShown(summaryOf(stack, 'stack'), [stack.metadata.name, stack.status?.waitingFor]))
  const shownBoxes = boxes.items.filter((box) => isShown(summaryOf(box, 'box'), [box.metadata.name, box.spec.image, boxRollout(box)]))
  const shownNetworks = networks.items.filter((network) => isShown(networkSummary(network), [network.metadata.name, network.spec.type, network.spec.cidr]))
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
      <Section title="Stacks" resource="modelstacks" objects={stacks} shown={shownStacks.length} columns={['Name', 'Ready', 'Status', 'Waiting for', 'Age', 'Message']}>
        {shownStacks.map((stack) => (
          <StackRow key={stack.metadata.uid} stack={stack} />
        ))}
      </Section>
      <Section title="Boxes" resource="modelboxes" objects={boxes} shown={shownBoxes.length} columns={['Name', 'Ready', 'Status', 'Image', 'Rollout', 'Age', 'Message']}>
        {shownBoxes.map((box) => (
          <BoxRow key={box.metadata.uid} box={box} />
        ))}
      </Section>
      {(networks.items.length > 0 || networks.error?.isRefusal) && (
        <Section title="Networks" resource="networks" objects={networks} shown={shownNetworks.length} columns={['Name', 'Type', 'CIDR', 'Gateway', 'Status', 'Boxes', 'Age', 'Message']}>
          {shownNetworks.map((network) => (
            <NetworkRow key={network.metadata.uid} network={network} />
          ))}
        </Section>
      )}
    </div>
  )
}
