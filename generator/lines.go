package generator

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// lineHashSize is the length of one line's hash in hex digits: short, since a collision only leaves a line unnamed.
const lineHashSize = 6

func lineHashes(content []byte) []string {
	lines := strings.Split(strings.TrimSuffix(string(plainLines(content)), "\n"), "\n")
	hashes := make([]string, len(lines))
	for i, line := range lines {
		sum := sha256.Sum256([]byte(line))
		hashes[i] = hex.EncodeToString(sum[:])[:lineHashSize]
	}
	return hashes
}

func splitHashes(s string) []string {
	var hashes []string
	for len(s) >= lineHashSize {
		hashes = append(hashes, s[:lineHashSize])
		s = s[lineHashSize:]
	}
	return hashes
}

// editedLines names the lines of now that were not there before, or, where lines are only gone, the line they stood before.
func editedLines(before, now []string) string {
	for len(before) > 0 && len(now) > 0 && before[len(before)-1] == now[len(now)-1] {
		before, now = before[:len(before)-1], now[:len(now)-1]
	}
	start := 0
	for start < len(before) && start < len(now) && before[start] == now[start] {
		start++
	}
	common := commonLines(before[start:], now[start:])
	var edited []int
	for i := start; i < len(now); i++ {
		if !common[i-start] {
			edited = append(edited, i+1)
		}
	}
	if len(edited) == 0 {
		return fmt.Sprintf("before line %d", start+1)
	}
	return rangesOf(edited)
}

// commonLines marks the lines of now that belong to a longest common subsequence with before.
func commonLines(before, now []string) []bool {
	length := make([][]int, len(before)+1)
	for i := range length {
		length[i] = make([]int, len(now)+1)
	}
	for i, b := range slices.Backward(before) {
		for j := len(now) - 1; j >= 0; j-- {
			if b == now[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	common := make([]bool, len(now))
	for i, j := 0, 0; i < len(before) && j < len(now); {
		switch {
		case before[i] == now[j]:
			common[j] = true
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return common
}

// rangesOf writes 3, 4, 5 and 9 as "lines 3-5, 9".
func rangesOf(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		if end == i {
			parts = append(parts, strconv.Itoa(numbers[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", numbers[i], numbers[end]))
		}
		i = end + 1
	}
	if len(numbers) == 1 {
		return "line " + parts[0]
	}
	return "lines " + strings.Join(parts, ", ")
}
