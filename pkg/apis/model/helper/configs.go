// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
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
func VersionedConfigMapName(boxName, configName string, data map[string]string, binaryData map[string][]byte) string {
	return ConfigMapName(boxName, configName) + "-" + hex.EncodeToString(ConfigDataHash(data, binaryData)[:versionHashBytes])
}

// ConfigDataHash identifies the files of a config. The same files have the same hash in every release.
func ConfigDataHash(data map[string]string, binaryData map[string][]byte) []byte {
	hash := sha256.New()
	writeFiles(hash, data)
	if len(binaryData) > 0 {
		fmt.Fprint(hash, "binary:") // which no length of a key begins with
		writeFiles(hash, binaryData)
	}
	return hash.Sum(nil)
}

func writeFiles[T string | []byte](hash hash.Hash, files map[string]T) {
	for _, key := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(hash, "%d:%s%d:%s", len(key), key, len(files[key]), files[key]) // a hash takes everything
	}
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
