// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { useMemo, type ReactNode } from 'react'
import dagre from '@dagrejs/dagre'
import { Background, Controls, Handle, MarkerType, Position, ReactFlow, type Edge, type Node, type NodeProps } from '@xyflow/react'
import '@xyflow/react/dist/style.css'
import { stackActions } from './action'
import { ActionButton, useActions } from './actions'
import { Conditions, Events } from './conditions'
import { boxNameOf, componentHealth, componentReady, summaryOf } from './health'
import { useResource } from './hooks'
import { Age, Failure, Loading, Status, Table } from './parts'
import type { Component, ComponentStatus, Event, ModelStack } from './types'

interface ComponentData extends Record<string, unknown> {
  component: Component
  status?: ComponentStatus
  boxName: string
}

type ComponentNode = Node<ComponentData, 'component'>

const width = 210
const height = 84

function ComponentCard({ data: { component, status, boxName } }: NodeProps<ComponentNode>): ReactNode {
  const health = componentHealth(status)
  return (
    <div className={`component ${health} ${component.external ? 'external' : ''}`}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <ComponentName component={component} boxName={boxName} />
      <Status health={health}>{status?.state ?? 'Pending'}</Status>
      <span className="quiet detail" title={status?.message}>
        {status?.waitingFor?.length ? `waiting for ${status.waitingFor.join(', ')}` : component.external ? `${component.external.host}:${component.external.port}` : component.box?.image}
      </span>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  )
}

function ComponentName({ component, boxName }: { component: Component; boxName: string }): ReactNode {
  return component.external ? <strong>{component.name}</strong> : <a href={`#/boxes/${boxName}`}>{component.name}</a>
}

const nodeTypes = { component: ComponentCard }

// layout places the components, each to the right of those that it depends on.
function layout(stack: ModelStack): { nodes: ComponentNode[]; edges: Edge[] } {
  const graph = new dagre.graphlib.Graph()
  graph.setGraph({ rankdir: 'LR', nodesep: 24, ranksep: 70 })
  graph.setDefaultEdgeLabel(() => ({}))
  const statuses = new Map(stack.status?.components?.map((status) => [status.name, status]))
  const edges: Edge[] = []
  for (const { name } of stack.spec.components) graph.setNode(name, { width, height, x: 0, y: 0 })
  for (const { name, dependsOn } of stack.spec.components) {
    for (const other of dependsOn ?? []) {
      const isWaiting = statuses.get(name)?.waitingFor?.includes(other) ?? false
      graph.setEdge(other, name)
      edges.push({
        id: `${other}/${name}`,
        source: other,
        target: name,
        animated: isWaiting,
        className: isWaiting ? 'waiting' : undefined,
        ariaLabel: `${name} ${isWaiting ? 'waits for' : 'depends on'} ${other}`,
        markerEnd: { type: MarkerType.ArrowClosed },
        focusable: false,
      })
    }
  }
  dagre.layout(graph)
  const nodes = stack.spec.components.map((component): ComponentNode => {
    const { x, y } = graph.node(component.name)
    return {
      id: component.name,
      type: 'component',
      position: { x: x - width / 2, y: y - height / 2 },
      width,
      height,
      data: { component, status: statuses.get(component.name), boxName: boxNameOf(stack, component) },
    }
  })
  return { nodes, edges }
}

function Graph({ stack }: { stack: ModelStack }): ReactNode {
  const { nodes, edges } = useMemo(() => layout(stack), [stack])
  return (
    <div className="graph" role="region" aria-label="Components and what they depend on">
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.1 }}
        minZoom={0.1}
        colorMode="system"
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        zoomOnScroll={false}
        preventScrolling={false}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  )
}

function Components({ stack }: { stack: ModelStack }): ReactNode {
  const components = new Map(stack.spec.components.map((component) => [component.name, component]))
  const statuses = new Map(stack.status?.components?.map((status) => [status.name, status]))
  // Those that are being deleted are in the status only.
  const names = [...new Set([...components.keys(), ...statuses.keys()])]
  return (
    <Table columns={['Component', 'Ready', 'State', 'Depends on', 'Waiting for', 'Message']}>
      {names.map((name) => {
        const component = components.get(name)
        const status = statuses.get(name)
        return (
          <tr key={name}>
            <th scope="row">{component ? <ComponentName component={component} boxName={boxNameOf(stack, component)} /> : name}</th>
            <td>{componentReady(component, status)}</td>
            <td>
              <Status health={componentHealth(status)}>{status?.state ?? 'Pending'}</Status>
            </td>
            <td>{component?.dependsOn?.join(', ')}</td>
            <td>{status?.waitingFor?.join(', ')}</td>
            <td className="message">{[status?.reason, status?.message].filter(Boolean).join(': ')}</td>
          </tr>
        )
      })}
    </Table>
  )
}

export function StackView({ name }: { name: string }): ReactNode {
  const stacks = useResource<ModelStack>('modelstacks')
  const events = useResource<Event>('events')
  const { ask, dialog, notice } = useActions()
  const stack = stacks.items.find((item) => item.metadata.name === name)
  if (stacks.error?.isRefusal) return <Failure what="modelstacks" error={stacks.error} />
  if (!stack) return stacks.isLoaded ? <p className="failure">There is no stack {name}.</p> : <Loading />
  const { status, message, health } = summaryOf(stack, 'stack')
  return (
    <>
      <h1>Stack {name}</h1>
      <p>
        <Status health={health}>{status}</Status> <Age from={stack.metadata.creationTimestamp} /> old: {message}
      </p>
      <div className="buttons">
        {stackActions(stack).map((action) => (
          <ActionButton key={action.label} action={action} onAsk={ask} />
        ))}
        {notice}
      </div>
      {dialog}
      <Graph stack={stack} />
      <h2>Components</h2>
      <Components stack={stack} />
      <Conditions conditions={stack.status?.conditions ?? []} />
      <Events events={events} uids={new Set([stack.metadata.uid])} />
    </>
  )
}
