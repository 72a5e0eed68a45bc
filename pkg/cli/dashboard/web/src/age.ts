// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// age is a time span in the words of kubectl get.
export function age(from: string | undefined, now: number): string {
  if (!from) return ''
  const seconds = Math.max(0, Math.round((now - Date.parse(from)) / 1000))
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 10) return seconds % 60 ? `${minutes}m${seconds % 60}s` : `${minutes}m`
  if (minutes < 180) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 8) return minutes % 60 ? `${hours}h${minutes % 60}m` : `${hours}h`
  if (hours < 48) return `${hours}h`
  const days = Math.floor(hours / 24)
  if (days < 8) return hours % 24 ? `${days}d${hours % 24}h` : `${days}d`
  return days < 730 ? `${days}d` : `${Math.floor(days / 365)}y`
}
