// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Opens every view of the dashboard in a browser, and presses every button, against a control plane: "make test-dashboard" starts
// one. The environment has the programs: KUBECONFIG, KUBECTL, PLUGIN, CHROMIUM, SERVER_PID (the file with the process id of the
// server), and SCREENSHOTS, a folder for pictures of the views.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { chromium } from 'playwright-core'

const { KUBECTL = 'kubectl', PLUGIN = 'kubectl-modelbox', CHROMIUM = '/usr/bin/chromium', SERVER_PID, SCREENSHOTS } = process.env
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const patience = 60_000

let browser
let dashboard
let page
// What the page has asked for, and what went wrong in it.
const requests = new Set()
const problems = []

const kubectl = (...args) => execFileSync(KUBECTL, ['--namespace=dashboard', ...args], { encoding: 'utf8' })

// start runs the command, and returns the process and the URL that it prints.
async function start(...args) {
  const child = spawn(PLUGIN, ['dashboard', '--namespace=dashboard', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (data) => {
      output += data
      const found = /http:\S+/.exec(output)
      if (found) resolve(found[0])
    })
    child.on('exit', (code) => reject(new Error(`the command ended with ${code}: ${output}`)))
  })
  return { child, url }
}

async function open(url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  const opened = await context.newPage()
  opened.setDefaultTimeout(patience)
  opened.on('request', (request) => requests.add(new URL(request.url()).origin))
  opened.on('pageerror', (error) => problems.push(String(error)))
  opened.on('console', (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) problems.push(message.text())
  })
  await opened.goto(url)
  return opened
}

async function picture(name, of = page) {
  if (SCREENSHOTS) await of.screenshot({ path: join(SCREENSHOTS, `${name}.png`) })
}

// checkAccessibility fails for what axe calls serious.
async function checkAccessibility(view, of = page) {
  await of.evaluate(axe)
  const { violations } = await of.evaluate(() => globalThis.axe.run())
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  assert.deepEqual(
    serious.map(({ id, nodes }) => `${view}: ${id}: ${nodes.map((node) => node.html).join(' ')}`),
    [],
  )
}

// confirm presses the button of an action, checks what the dialog says, and confirms it.
async function confirm(button, warning, done) {
  await page.getByRole('button', { name: button, exact: true }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(warning).waitFor()
  await picture(`confirm-${button.toLowerCase().replaceAll(' ', '-')}`)
  await dialog.getByRole('button', { name: button, exact: true }).click()
  await page.getByRole('status').filter({ hasText: done }).waitFor()
}

before(async () => {
  kubectl('apply', `--filename=${new URL('objects.yaml', import.meta.url).pathname}`)
  kubectl('wait', '--for=condition=Ready', 'modelbox/front', 'modelbox/agent', '--timeout=120s')
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  dashboard = await start()
  page = await open(dashboard.url)
})

after(async () => {
  await browser?.close()
  dashboard?.child.kill('SIGINT')
})

test('the token is no longer in the address', async () => {
  await page.getByRole('heading', { name: 'Namespace dashboard' }).waitFor()
  assert.equal(page.url(), dashboard.url.replace(/\?.*/, ''))
})

test('the namespace shows stacks and boxes, filters them, and is used by the keyboard', async () => {
  await page.getByRole('row', { name: /^front 2\/2 .*Ready nginx:1.7.9 Complete/ }).waitFor()
  await page.getByRole('row', { name: /^shop \d\/6/ }).waitFor()
  await picture('namespace')
  await checkAccessibility('namespace')
  await page.keyboard.press('/')
  await page.keyboard.type('nginx complete')
  await page.getByText(/^1 of \d+ boxes$/).waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Box front' }).waitFor()
  await page.goBack()
  await page.getByLabel('Only what is not ready').check()
  await page.getByRole('row', { name: /^shop / }).waitFor()
  assert.equal(await page.getByRole('row', { name: /^agent / }).count(), 0)
  await page.getByLabel('Only what is not ready').uncheck()
  await page.getByRole('row', { name: /^agent / }).getByRole('link').focus()
  await page.keyboard.press('ArrowDown')
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'front')
})

test('the dark theme', async () => {
  await page.emulateMedia({ colorScheme: 'dark' })
  await picture('namespace-dark')
  await checkAccessibility('namespace, dark')
  await page.goto(page.url().replace(/#.*/, '') + '#/stacks/shop')
  await page.getByRole('heading', { name: 'Stack shop' }).waitFor()
  await picture('stack-dark')
  await checkAccessibility('stack, dark')
  await page.emulateMedia({ colorScheme: 'light' })
})

test('a stack shows what waits for what', async () => {
  await page.goto(page.url().replace(/#.*/, '') + '#/stacks/shop')
  const graph = page.getByRole('region', { name: 'Components and what they depend on' })
  await graph.getByText('waiting for orders').waitFor()
  await graph.getByText('mail.example.com:25').waitFor()
  assert.equal(await graph.locator('.react-flow__edge').count(), 6)
  await page.getByRole('row', { name: /^web 0\/3 .*Waiting auth, orders orders/ }).waitFor()
  await picture('stack')
  await checkAccessibility('stack')
  await confirm('Pause', 'The server accepts it, without a warning.', 'stack shop paused')
  await confirm('Resume', 'The server accepts it, without a warning.', 'stack shop resumed')
  await page.getByRole('button', { name: 'Restart' }).waitFor()
  await graph.getByRole('link', { name: 'orders' }).click()
  await page.getByRole('heading', { name: 'Box shop-orders' }).waitFor()
  await page.getByText(/Pod\/shop-orders-/).first().waitFor()
  await page.getByText('Unschedulable').first().waitFor()
  await picture('box-waiting')
})

test('a box shows its tree down to containers, conditions, events and YAML', async () => {
  await page.goto(page.url().replace(/#.*/, '') + '#/boxes/front')
  const tree = page.locator('.tree')
  for (const name of ['ModelBox/front', 'Deployment/front', 'ReplicaSet/front-', 'Pod/front-', 'Container/front']) await tree.getByText(name).first().waitFor()
  await page.getByRole('row', { name: /^Ready .*True/ }).waitFor()
  await page.getByRole('row', { name: /ScalingReplicaSet|SuccessfulCreate/ }).first().waitFor()
  await picture('box')
  await checkAccessibility('box')
  await page.getByRole('link', { name: 'YAML' }).click()
  await page.getByText('kind: Deployment').waitFor()
  await picture('box-yaml')
  await checkAccessibility('YAML')
})

test('a daemon set and a stateful set have trees', async () => {
  await page.goto(page.url().replace(/#.*/, '') + '#/boxes/agent')
  await page.getByText(/^Pod\/agent-/).first().waitFor()
  await page.goto(page.url().replace(/#.*/, '') + '#/boxes/shop-db')
  await page.getByText('Pod/shop-db-0').first().waitFor()
})

test('drift is shown with who changed what', async () => {
  await page.goto(page.url().replace(/#.*/, '') + '#/boxes/front')
  await confirm('Pause', 'The server accepts it, without a warning.', 'box front paused')
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Restart' }).count(), 0)
  await page.getByRole('link', { name: 'Drift' }).click()
  kubectl('patch', 'deployment/front', '--type=merge', '--patch={"spec":{"minReadySeconds":77}}', '--field-manager=editor')
  await page.getByRole('row', { name: 'spec.minReadySeconds 77 3 editor' }).waitFor()
  await picture('box-drift')
  await checkAccessibility('drift')
  await confirm('Resume', /^The server (accepts|warns)/, 'box front resumed')
  await page.getByText('No child differs from the box.').waitFor()
})

test('a restart and a rollback warn of the pods', async () => {
  await confirm('Restart', /^The server (accepts|warns)/, 'box front restarted')
  kubectl('annotate', '--overwrite', 'modelbox/front', 'kubernetes.io/change-cause=a newer one')
  kubectl('patch', 'modelbox/front', '--type=merge', '--patch={"spec":{"image":"nginx:1.9.1"}}')
  kubectl('wait', '--for=condition=Ready', 'modelbox/front', '--timeout=120s')
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByRole('row', { name: 'spec.image "nginx:1.7.9" "nginx:1.9.1"' }).waitFor()
  await picture('box-history')
  await checkAccessibility('history')
  await confirm('Roll back to 1', 'rolls 2 pods', 'box front rolled back to revision 1')
  await page.locator('dd.image').getByText('nginx:1.7.9').waitFor()
})

test('a rollout that has failed can be tried again', async () => {
  kubectl('wait', '--for=condition=Ready', 'modelbox/front', '--timeout=120s')
  assert.equal(await page.getByRole('button', { name: 'Retry' }).count(), 0)
  const spec = { progressDeadlineSeconds: 5, podTemplate: { spec: { nodeSelector: { 'example.com/none': 'true' } } } }
  kubectl('patch', 'modelbox/front', '--type=merge', `--patch=${JSON.stringify({ spec })}`)
  await page.getByRole('button', { name: 'Retry' }).waitFor()
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByText(/RolledBack: /).waitFor()
  await picture('box-failed')
  await confirm('Retry', /^The server (accepts|warns)/, 'rollout of box front retried')
})

test('a rollout in steps is promoted and aborted', async () => {
  const spec = {
    image: 'nginx:1.9.2',
    podTemplate: null,
    progressDeadlineSeconds: null,
    rollout: { type: 'Canary', steps: [{ weight: 50, pause: 'Manual' }, { weight: 75, pause: 'Manual' }] },
  }
  kubectl('patch', 'modelbox/front', '--type=merge', `--patch=${JSON.stringify({ spec })}`)
  await page.getByText('step 1 of 2').first().waitFor()
  await confirm('Promote', /^The server (accepts|warns)/, 'rollout of box front promoted')
  await page.getByText('step 2 of 2').first().waitFor()
  await picture('box-canary')
  await checkAccessibility('canary')
  await confirm('Abort', /^The server (accepts|warns)/, 'rollout of box front aborted')
  await page.getByText(/RolledBack: /).waitFor()
  await page.getByRole('button', { name: 'Retry' }).waitFor()
})

test('a rollback leaves out the steps of a rollout', async () => {
  const promote = async (image) => {
    await page.getByText('step 1 of 2').first().waitFor()
    await confirm('Promote fully', /^The server (accepts|warns)/, 'rollout of box front promoted')
    await page.locator('dd.image').getByText(image).waitFor()
    kubectl('wait', '--for=condition=Ready', 'modelbox/front', '--timeout=120s')
  }
  await confirm('Retry', /^The server (accepts|warns)/, 'rollout of box front retried')
  await promote('nginx:1.9.2')
  kubectl('patch', 'modelbox/front', '--type=merge', '--patch={"spec":{"image":"nginx:1.9.3"}}')
  await promote('nginx:1.9.3')
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByRole('row', { name: 'spec.image "nginx:1.9.2" "nginx:1.9.3"' }).waitFor()
  const button = page.getByRole('button', { name: /^Roll back to / }).first()
  await button.click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('rolls 2 pods in steps').waitFor()
  await dialog.getByLabel('Immediately').check()
  await dialog.getByText('rolls 2 pods without the steps of the rollout').waitFor()
  await picture('confirm-immediate-rollback')
  await checkAccessibility('immediate rollback')
  await dialog.getByRole('button', { name: /^Roll back to / }).click()
  await page.locator('dd.image').getByText('nginx:1.9.2').waitFor()
  kubectl('wait', '--for=condition=Ready', 'modelbox/front', '--timeout=120s')
  // The steps would not end without a user.
  await page.getByRole('button', { name: 'Promote', exact: true }).waitFor({ state: 'detached' })
})

test('the checks of a rollout are shown with their results', async () => {
  const other = await open('about:blank', { storageState: await page.context().storageState() })
  // The control plane has no Prometheus, so it takes no box with checks: the answer of the server gets them on its way.
  let front
  let watch
  await other.routeWebSocket(/modelboxes\?.*watch=true/, (socket) => {
    watch = socket
  })
  await other.route(/modelboxes\?limit/, async (route) => {
    const response = await route.fetch()
    const list = await response.json()
    front = list.items.find((item) => item.metadata.name === 'front')
    front.spec.rollout.checks = [{ name: 'error-rate', max: '0.05', count: 5 }, { name: 'latency', min: '1', max: '200' }, { name: 'requests', min: '10', count: 2 }]
    front.status.rollout.podsHash = 'of the test'
    front.status.rollout.checks = [
      { name: 'error-rate', step: 1, successes: 2, failures: 1, value: '0.2', message: '0.2 is more than 0.05' },
      { name: 'latency', step: 1, successes: 1, value: '120' },
      { name: 'requests', step: 1, successes: 1, inconclusive: 3, message: 'no data' },
      { name: 'removed', step: 1, successes: 1 },
    ]
    await route.fulfill({ response, json: list })
  })
  await other.goto(page.url().replace(/#.*/, '') + '#/boxes/front')
  await other.getByRole('row', { name: 'error-rate 1 2 of 5 1 0 0.2 at most 0.05 0.2 is more than 0.05' }).waitFor()
  await other.getByRole('row', { name: 'latency 1 1 of 1 0 0 120 1 to 200' }).waitFor()
  await other.getByRole('row', { name: 'requests 1 1 of 2 0 3 at least 10 no data' }).waitFor()
  for (const [name, health, plot] of [
    ['error-rate', 'failing', 'value 0.2, max 0.05'],
    ['latency', 'healthy', 'value 120, min 1, max 200'],
    ['requests', 'underway', 'min 10'],
  ]) {
    assert.equal(await other.getByRole('row', { name }).locator(`.${health}`).count(), 1)
    await other.getByRole('row', { name }).getByRole('img', { name: `Values of ${name}: ${plot}`, exact: true }).waitFor()
  }
  assert.equal(await other.getByText('removed').count(), 0)
  for (let successes = 3; successes < 6; successes++) {
    const value = String(successes / 100)
    Object.assign(front.status.rollout.checks[0], { successes, value, message: undefined })
    watch.send(JSON.stringify({ type: 'MODIFIED', object: front }))
    await other.getByRole('img', { name: `Values of error-rate: value ${value}, max 0.05` }).waitFor()
  }
  await picture('box-checks', other)
  await other.context().close()
})

test('the logs of all pods are shown, filtered and followed', async () => {
  const other = await open('about:blank', { storageState: await page.context().storageState() })
  // Simulated nodes have no logs. The second response takes the place of the connection that is lost after the first one.
  const responses = [
    { headers: { Warning: '299 - "new pods are not followed"' }, body: '[pod/front-1/front] started\n[pod/front-2/front] GET /\n[pod/front-1/front] <b>not bold</b>\n' },
    { body: '[pod/front-3/front] GET /again\n[pod/front-3/front] no newline' },
  ]
  const queries = []
  await other.route(/\/logs\/front/, (route) => {
    queries.push(new URL(route.request().url()).search)
    return route.fulfill({ contentType: 'text/plain', ...responses[Math.min(queries.length, responses.length) - 1] })
  })
  await other.goto(page.url().replace(/#.*/, '') + '#/boxes/front')
  await other.getByRole('link', { name: 'Logs' }).click()
  const log = other.getByRole('log', { name: 'The logs of the pods of box front' })
  await log.getByText('front-1/front started').waitFor()
  await log.getByText('<b>not bold</b>').waitFor()
  await other.getByText('Warning: new pods are not followed').waitFor()
  await other.getByLabel('Filter').fill('front-2')
  await other.getByText('1 of 3 lines').waitFor()
  assert.equal(await log.innerText(), 'front-2/front GET /\n')
  await other.getByLabel('Filter').fill('')
  await log.getByText('front-3/front no newline').waitFor()
  await other.getByText('2 of 2 lines').waitFor()
  await picture('box-logs', other)
  await checkAccessibility('logs', other)
  await other.getByLabel('All containers').check()
  await other.waitForResponse(/allContainers=true/)
  assert.deepEqual([...new Set(queries)], ['?allContainers=false', '?allContainers=true'])
  await other.context().close()
})

test('the usage of a box is plotted against its requests', async () => {
  const other = await open('about:blank', { storageState: await page.context().storageState() })
  await other.goto(page.url().replace(/#.*/, '') + '#/boxes/front/usage')
  // The control plane has no metrics-server.
  await other.getByText('Cannot read the usage: metrics API not available').waitFor()
  const start = Date.now() - 600_000
  const used = [...Array(36).keys()].map((index) => 120 + Math.round(60 * Math.sin(index / 5)))
  let measured = 0
  await other.clock.install()
  await other.route(/\/usage\/front/, (route) => {
    const cpu = used[measured]
    const json = {
      time: new Date(start + 15_000 * ++measured).toISOString(),
      pods: 2,
      measured: 2,
      cpu: { used: cpu, requested: 200 },
      memory: { used: (512 + 8 * measured) * 2 ** 20, requested: measured > 20 ? 2 ** 30 : 0 },
      containers: [
        { name: 'agent', pods: 2, cpu: { used: '5m', recommended: '10m' }, memory: { used: '20Mi', recommended: '32Mi' } },
        { name: 'front', pods: 2, cpu: { used: '70m', requested: '100m', recommended: '90m' }, memory: { used: '400Mi', requested: '512Mi', recommended: '512Mi' } },
      ],
    }
    return route.fulfill({ json })
  })
  await other.reload()
  for (const [index, cpu] of used.entries()) {
    if (index > 0) await other.clock.runFor(15_000)
    const memory = `used ${520 + 8 * index}Mi${index >= 20 ? ', requested 1Gi' : ''}`
    await other.getByRole('img', { name: `CPU: used ${cpu}m, requested 200m`, exact: true }).waitFor()
    await other.getByRole('img', { name: `Memory: ${memory}`, exact: true }).waitFor()
  }
  await other.getByText('2 of 2 running pods measured').waitFor()
  await other.getByRole('row', { name: 'agent 2 5m none 10m 20Mi none 32Mi' }).waitFor()
  await other.getByRole('row', { name: 'front 2 70m 100m 90m 400Mi 512Mi 512Mi' }).waitFor()
  await checkAccessibility('usage', other)
  await picture('box-usage', other)
  // The page keeps the measurements while it shows another section, and while it cannot read them.
  await other.route(/\/usage\/front/, (route) => route.abort())
  await other.getByRole('link', { name: 'YAML' }).click()
  await other.getByRole('link', { name: 'Usage' }).click()
  await other.getByText('Cannot read the usage: kubectl modelbox dashboard does not answer').waitFor()
  await other.getByRole('img', { name: `CPU: used ${used.at(-1)}m, requested 200m` }).waitFor()
  await other.context().close()
})

test('networks are shown with the addresses of pods', async () => {
  const pod = kubectl('get', 'pods', '--selector=modelbox=router', '--output=jsonpath={.items[0].metadata.name}')
  const interfaces = JSON.stringify([{ name: 'dashboard/lan', interface: 'net1', ips: ['192.168.0.2'], mac: '9e:0c:d9:b2:f0:a6' }])
  kubectl('annotate', `pod/${pod}`, `k8s.v1.cni.cncf.io/network-status=${interfaces}`)
  await page.goto(page.url().replace(/#.*/, '') + '#/')
  await page.getByRole('row', { name: /^lan bridge 192\.168\.0\.0\/16 192\.168\.0\.1 .*NotServed 1 / }).getByRole('link').click()
  await page.getByRole('heading', { name: 'Network lan' }).waitFor()
  await page.getByRole('row', { name: `${pod} router net1 192.168.0.2` }).waitFor()
  await page.getByText('1 used, 65532 free').waitFor()
  await picture('network')
  await checkAccessibility('network')
  await page.getByRole('row', { name: pod }).getByRole('link', { name: 'router' }).click()
  await page.getByRole('row', { name: `${pod} lan net1 192.168.0.2` }).getByRole('link').click()
  await page.getByRole('heading', { name: 'Network lan' }).waitFor()
})

test('a refusal of the server is shown, and cannot be confirmed', async () => {
  await page.goto(page.url().replace(/#.*/, '') + '#/boxes/agent')
  await page.getByRole('button', { name: 'Restart' }).waitFor()
  // Another user pauses the box while the user of the page is asked.
  await page.context().route(/\/restart\?.*dryRun=All/, (route) => {
    kubectl('patch', 'modelbox/agent', '--type=merge', '--patch={"spec":{"paused":true}}')
    return route.continue()
  })
  await page.getByRole('button', { name: 'Restart' }).click()
  await page.getByRole('dialog').getByText("can't restart paused modelbox").waitFor()
  await picture('refusal')
  assert.ok(await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).isDisabled())
  await checkAccessibility('dialog')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('a user without rights is told what they may not read, and is offered nothing', async () => {
  const other = await start('--as=anna')
  try {
    const annas = await open(other.url)
    await annas.getByText(/You may not read modelstacks: .*User "anna" cannot list resource "modelstacks"/).waitFor()
    await annas.getByText('You may not read networks: ').waitFor()
    await annas.getByRole('link', { name: 'front' }).click()
    for (const what of ['deployments', 'replicasets', 'pods', 'events']) await annas.getByText(`You may not read ${what}: `).waitFor()
    await picture('box-without-rights', annas)
    await annas.getByRole('link', { name: 'History' }).click()
    await annas.getByText('You may not read the history: ').waitFor()
    await annas.getByRole('link', { name: 'Logs' }).click()
    await annas.getByText('You may not read the logs: ').waitFor()
    await annas.getByRole('link', { name: 'Usage' }).click()
    await annas.getByText('You may not read the usage: ').waitFor()
    assert.equal(await annas.getByRole('button').count(), 0)
    await annas.context().close()
  } finally {
    other.child.kill('SIGINT')
  }
})

test('the page says that the server is away, and goes on when it is back', { skip: !SERVER_PID && 'SERVER_PID is not set' }, async () => {
  await page.goto(page.url().replace(/#.*/, '') + '#/')
  await page.getByRole('row', { name: /^front / }).waitFor()
  process.kill(Number(readFileSync(SERVER_PID, 'utf8')), 'SIGKILL')
  await page.getByText(/^Not connected: /).waitFor()
  await picture('outage')
  await page.getByText(/^Not connected: /).waitFor({ state: 'detached' })
  kubectl('label', '--overwrite', 'modelbox/agent', 'seen=after')
  kubectl('patch', 'modelbox/agent', '--type=merge', '--patch={"spec":{"image":"example.com/agent:2"}}')
  await page.getByRole('row', { name: /^agent .* example.com\/agent:2/ }).waitFor()
})

test('a watch from a version that is too old makes the page list again', async () => {
  const other = await start()
  try {
    const stale = await open('about:blank')
    let lists = 0
    let watches = 0
    stale.on('request', (request) => {
      if (/modelboxes\?limit/.test(request.url())) lists++
    })
    await stale.routeWebSocket(/modelboxes\?.*watch=true/, (socket) => {
      if (watches++) socket.connectToServer()
      else socket.send(JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' } }))
    })
    await stale.goto(other.url)
    await stale.getByRole('row', { name: /^agent / }).waitFor()
    kubectl('patch', 'modelbox/agent', '--type=merge', '--patch={"spec":{"image":"example.com/agent:3"}}')
    await stale.getByRole('row', { name: /^agent .* example.com\/agent:3/ }).waitFor()
    assert.deepEqual({ lists, watches }, { lists: 2, watches: 2 })
    assert.equal(await stale.getByText(/^Not connected: /).count(), 0)
    await stale.context().close()
  } finally {
    other.child.kill('SIGINT')
  }
})

// measureFrames counts the frames of the page from now on.
async function measureFrames(of) {
  await of.evaluate(() => {
    const frames = (globalThis.frameTimes = [])
    let last = performance.now()
    const next = (now) => {
      frames.push(now - last)
      last = now
      requestAnimationFrame(next)
    }
    requestAnimationFrame(next)
  })
  return async () => {
    const frames = await of.evaluate(() => globalThis.frameTimes)
    return `${frames.length} frames, of which ${frames.filter((frame) => frame > 50).length} took longer than 50 ms, and the longest ${Math.round(Math.max(...frames))} ms`
  }
}

test('a namespace with 1,000 boxes is shown, filtered and changed', async (t) => {
  const boxes = Array.from({ length: 1000 }, (_, index) => ({
    apiVersion: 'model.github.com/v1',
    kind: 'ModelBox',
    metadata: { name: `box-${String(index).padStart(3, '0')}`, namespace: 'many' },
    spec: { image: 'example.com/many:1', paused: true, ports: [{ port: 80 }] },
  }))
  kubectl('create', 'namespace', 'many')
  execFileSync(KUBECTL, ['create', '--filename=-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: boxes }), maxBuffer: 2 ** 26 })
  const other = await start('--namespace=many')
  try {
    const many = await open('about:blank')
    const opened = Date.now()
    await many.goto(other.url)
    await many.getByRole('row', { name: /^box-000 / }).waitFor()
    t.diagnostic(`first row after ${Date.now() - opened} ms`)
    await many.getByRole('row', { name: /^box-999 / }).waitFor()
    t.diagnostic(`last row after ${Date.now() - opened} ms`)
    const describeFrames = await measureFrames(many)
    kubectl('annotate', '--namespace=many', 'modelboxes', '--all', 'seen=yes')
    kubectl('patch', '--namespace=many', 'modelbox/box-500', '--type=merge', '--patch={"spec":{"image":"example.com/many:2"}}')
    await many.getByRole('row', { name: /^box-500 .* example.com\/many:2/ }).waitFor()
    t.diagnostic(`1,001 changes: ${await describeFrames()}`)
    await many.keyboard.press('/')
    await many.keyboard.type('many:2')
    await many.getByText('1 of 1000 boxes').waitFor()
    assert.equal(await many.getByRole('row', { name: /^box-/ }).count(), 1)
    t.diagnostic(`with a filter: ${await describeFrames()}; ${Math.round((await many.evaluate(() => performance.memory.usedJSHeapSize)) / 2 ** 20)} MiB of heap`)
    await many.context().close()
  } finally {
    other.child.kill('SIGINT')
    kubectl('delete', 'namespace', 'many', '--wait=false')
  }
})

test('the page says that the command has ended', async () => {
  dashboard.child.kill('SIGINT')
  await page.getByText(/^Not connected: kubectl modelbox dashboard does not answer/).waitFor()
})

test('the page has asked the dashboard alone, and broken no policy', () => {
  for (const origin of requests) assert.match(origin, /^http:\/\/127\.0\.0\.1:\d+$/)
  assert.deepEqual(problems, [])
})
