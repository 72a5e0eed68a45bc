// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// versionHashBytes is how much of the hash of its data the name of a versioned ConfigMap has.
const versionHashBytes = 5

// ConfigMapName is the name of the ConfigMap of a config, without the version that one has whose rollout is "Versioned".
// A config may have no name.
func ConfigMapName(boxName, configName string) string {
	return joinedName(boxName, configName)
}

// VersionedConfigMapName is the name of the ConfigMap of a config whose rollout is "Versioned".
func VersionedConfigMapName(boxName, configName string, data map[string]string) string {
	return ConfigMapName(boxName, configName) + "-" + hex.EncodeToString(ConfigDataHash(data)[:versionHashBytes])
}

// ConfigDataHash identifies the data of a config. The same data has the same hash in every release.
func ConfigDataHash(data map[string]string) []byte {
	hash := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(data)) {
		fmt.Fprintf(hash, "%d:%s%d:%s", len(key), key, len(data[key]), data[key]) // a hash takes everything
	}
	return hash.Sum(nil)
}

// ConfigVolumeName is the name of the volume of a config, which may have no name.
func ConfigVolumeName(configName string) string {
	return joinedName("config", configName)
}

func joinedName(first, second string) string {
	if second == "" {
		return first
	}
	return first + "-" + second
}
