// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useRef, useState, type ReactNode } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

export interface Line {
  label: string
  // role decides the colour and the dashes.
  role: 'value' | 'limit'
  // values has a number for each time, null where there is none.
  values: (number | null)[]
}

interface PlotProps {
  label: string
  // times are in seconds since 1970, and ascend.
  times: number[]
  lines: Line[]
  format: (value: number) => string
  // isBinary says that the axis has multiples of powers of two, for bytes.
  isBinary?: boolean
  // span is how many seconds before the last time the plot begins. Without it, the plot begins at the first time.
  span?: number
  // isSmall says that the plot has neither axes nor a legend.
  isSmall?: boolean
}

const smallSize = { width: 160, height: 36 }
const height = 180
const binaryIncrements = Array.from({ length: 44 }, (_, power) => 2 ** power)

function lastOf(values: (number | null)[]): number | null {
  return values.findLast((value) => value !== null) ?? null
}

// describe is the plot for those who do not see it.
function describe({ label, lines, format }: PlotProps): string {
  const texts = lines.flatMap(({ label: name, values }) => {
    const last = lastOf(values)
    return last === null ? [] : [`${name} ${format(last)}`]
  })
  return `${label}: ${texts.join(', ') || 'no values yet'}`
}

function dataOf({ times, lines }: PlotProps): uPlot.AlignedData {
  return [times, ...lines.map(({ values }) => values)]
}

// Plot draws lines over time. The caption has their values at the pointer, or else the last ones.
export function Plot(props: PlotProps): ReactNode {
  const { label, lines, format, isBinary = false, isSmall = false } = props
  const element = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const latest = useRef(props)
  latest.current = props
  const [at, setAt] = useState<number | null>(null)
  const kinds = lines.map(({ role }) => role).join()
  useEffect(() => {
    const parent = element.current
    if (!parent) return
    // A canvas does not know the colours of the style sheet.
    const colorOf = (role: string) => () => getComputedStyle(parent.querySelector(`.${role}`) ?? parent).color
    const axis: uPlot.Axis = { stroke: colorOf('axis'), grid: { stroke: colorOf('grid'), width: 1 }, ticks: { show: false } }
    const made = new uPlot(
      {
        ...(isSmall ? smallSize : { width: Math.max(parent.clientWidth, 100), height }),
        // The label of the last time is wider than the room that uPlot leaves.
        padding: isSmall ? [0, 0, 0, 0] : [null, 36, null, null],
        legend: { show: false },
        cursor: { show: !isSmall, y: false, drag: { x: false, y: false } },
        scales: {
          x: {
            range: (_, first, last) => {
              const { span } = latest.current
              return [span === undefined ? Math.min(first, last - 1) : last - span, last]
            },
          },
          y: { range: (_, smallest, largest) => [Math.min(0, smallest * 1.1), Math.max(0, largest * 1.1) || 1] },
        },
        axes: isSmall
          ? [{ show: false }, { show: false }]
          : [
              { ...axis, values: (_, times) => times.map((time) => new Date(time * 1000).toLocaleTimeString()), space: 90 },
              { ...axis, values: (_, values) => values.map((value) => latest.current.format(value)), incrs: isBinary ? binaryIncrements : undefined, size: 70 },
            ],
        series: [
          {},
          ...kinds.split(',').map((role): uPlot.Series => ({ stroke: colorOf(role), width: 2, dash: role === 'limit' ? [6, 4] : undefined, points: { show: (u) => role === 'value' && (!isSmall || u.data[0].length === 1), size: 4 } })),
        ],
        hooks: { setCursor: [(u) => setAt(u.cursor.idx ?? null)] },
      },
      dataOf(latest.current),
      parent,
    )
    plot.current = made
    const observer = new ResizeObserver(() => {
      if (!isSmall && parent.clientWidth > 0) made.setSize({ width: parent.clientWidth, height })
    })
    observer.observe(parent)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const redraw = () => made.redraw()
    scheme.addEventListener('change', redraw)
    return () => {
      observer.disconnect()
      scheme.removeEventListener('change', redraw)
      made.destroy()
      plot.current = undefined
    }
  }, [kinds, isBinary, isSmall])
  useEffect(() => plot.current?.setData(dataOf(latest.current)), [props.times, lines])
  return (
    <figure className={isSmall ? 'plot small' : 'plot'}>
      {!isSmall && (
        <figcaption>
          <strong>{label}</strong>
          {lines.map((line) => {
            const value = at === null ? lastOf(line.values) : line.values[at]
            return (
              <span key={line.label}>
                <span className={line.role} aria-hidden="true">
                  {line.role === 'limit' ? '╌' : '━'}
                </span>{' '}
                {line.label} {value === null || value === undefined ? 'none' : format(value)}
              </span>
            )
          })}
        </figcaption>
      )}
      <div ref={element} role="img" aria-label={describe(props)}>
        {['value', 'limit', 'axis', 'grid'].map((role) => (
          <span key={role} className={role} />
        ))}
      </div>
    </figure>
  )
}
